#!/bin/sh
# keep_machine_code.sh FOLDER NVCC ARGUMENTS...: compiles, and leaves the PTX of the kernels in FOLDER and one cubin
# for each architecture, all called cuda_KERNEL. tests/cuda/compile_test.py reads them. All else that nvcc can keep is large and is thrown away.
folder=$1
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$@" --keep --keep-dir "$work" || exit
mkdir -p "$folder" || exit
for file in "$work"/*.ptx "$work"/*.cubin; do
  name=${file##*/}
  mv "$file" "$folder/cuda_${name#cuda_}" || exit
done
