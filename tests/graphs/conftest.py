"""Before any file here imports jax: two devices on one CPU, for shard_map."""
import os

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
