// expect: runtime-misuse at 5, runtime-misuse at 5
// One call that first allocates too much and then memory that nobody gives back: two mistakes.
int main() {
  void* memory = nullptr;
  for (int bits = 40; bits >= 20; bits -= 20) cudaMalloc(&memory, 1ull << bits);
  return memory == nullptr;
}
