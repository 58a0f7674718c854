// Runs a libFuzzer target without libFuzzer: every file in the corpus folders, then seeded mutations of them
// until the time is up. `--seed N` runs the mutation with that seed only.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

std::vector<std::string> read_corpus(const std::vector<std::string>& folders) {
  std::vector<std::string> inputs;
  for (const auto& folder : folders) {
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  return inputs;
}

std::string mutate(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  std::string input = corpus.empty() ? std::string() : corpus[random() % corpus.size()];
  const size_t changes = 1 + random() % 8;
  for (size_t i = 0; i < changes; ++i) {
    const size_t at = input.empty() ? 0 : random() % input.size();
    switch (random() % 6) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(random());
        break;
      case 1:
        if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << (random() % 8)));
        break;
      case 2:
        input.insert(at, 1 + random() % 4, static_cast<char>(random()));
        break;
      case 3:
        if (!input.empty()) input.erase(at, 1 + random() % 8);
        break;
      case 4:
        input.resize(at);
        break;
      default:
        if (!corpus.empty()) {
          const std::string& other = corpus[random() % corpus.size()];
          if (!other.empty()) {
            const size_t from = random() % other.size();
            input.insert(at, other.substr(from, 1 + random() % 64));
          }
        }
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 5;
  uint64_t seed = 0;
  bool one_seed = false;
  std::vector<std::string> folders;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
      one_seed = true;
    } else {
      folders.emplace_back(argv[i]);
    }
  }
  const auto corpus = read_corpus(folders);
  if (corpus.empty()) {
    std::fprintf(stderr, "no corpus found\n");
    return 2;
  }
  for (const auto& input : corpus) run(input);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t runs = 0;
  do {
    std::mt19937_64 random(seed);
    run(mutate(corpus, random));
    ++seed;
    ++runs;
  } while (!one_seed && std::chrono::steady_clock::now() < end);
  std::printf("%zu corpus files, %llu mutations, no failure\n", corpus.size(),
              static_cast<unsigned long long>(runs));
  return 0;
}
