// Runs a libFuzzer target without libFuzzer: every file in the corpus folders, then seeded mutations of them
// until the time is up.
//
// Usage: TARGET [--seconds N] [--seed N] [--runs N] FOLDER...
//
// Mutation i of a run depends on the seed plus i and on the corpus, so `--seed N --runs 1` repeats one of
// them. The inputs run in a child process. If it ends, the driver prints the corpus file or the seed that it
// was running.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

struct Options {
  double seconds = 5;
  uint64_t seed = 0;
  uint64_t runs = UINT64_MAX;
  std::vector<std::string> folders;
};

// The progress of the child process. Shared with the parent.
struct Progress {
  uint64_t corpus_files = 0;  // begun
  uint64_t mutations = 0;     // begun
};

struct CorpusFile {
  std::string path;
  std::string content;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (has_value && std::strcmp(argv[i], "--seconds") == 0) {
      options.seconds = std::atof(argv[++i]);
    } else if (has_value && std::strcmp(argv[i], "--seed") == 0) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (has_value && std::strcmp(argv[i], "--runs") == 0) {
      options.runs = std::strtoull(argv[++i], nullptr, 10);
    } else {
      options.folders.emplace_back(argv[i]);
    }
  }
  return options;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

// Sorted by path, because mutations depend on the order.
std::vector<CorpusFile> read_corpus(const std::vector<std::string>& folders) {
  std::vector<CorpusFile> files;
  for (const auto& folder : folders) {
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files.push_back({entry.path().string(), {std::istreambuf_iterator<char>(file), {}}});
    }
  }
  std::ranges::sort(files, {}, &CorpusFile::path);
  return files;
}

std::string mutate(const std::vector<CorpusFile>& corpus, std::mt19937_64& random) {
  std::string input = corpus[random() % corpus.size()].content;
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
        const std::string& other = corpus[random() % corpus.size()].content;
        if (!other.empty()) {
          const size_t from = random() % other.size();
          input.insert(at, other.substr(from, 1 + random() % 64));
        }
    }
  }
  return input;
}

void run_all(const Options& options, const std::vector<CorpusFile>& corpus, Progress& progress) {
  for (const CorpusFile& file : corpus) {
    ++progress.corpus_files;
    run(file.content);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  while (progress.mutations < options.runs && std::chrono::steady_clock::now() < end) {
    std::mt19937_64 random(options.seed + progress.mutations++);
    run(mutate(corpus, random));
  }
}

void report_failure(const Options& options, const std::vector<CorpusFile>& corpus, const Progress& progress,
                    int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "the target ended by %s %d ", WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  if (progress.mutations > 0) {
    std::fprintf(stderr, "in the mutation of seed %llu; repeat it with --seed %llu --runs 1\n",
                 static_cast<unsigned long long>(options.seed + progress.mutations - 1),
                 static_cast<unsigned long long>(options.seed + progress.mutations - 1));
  } else if (progress.corpus_files > 0) {
    std::fprintf(stderr, "in %s\n", corpus[progress.corpus_files - 1].path.c_str());
  } else {
    std::fprintf(stderr, "before the first input\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const auto corpus = read_corpus(options.folders);
  if (corpus.empty()) {
    std::fprintf(stderr, "no corpus found\n");
    return 2;
  }
  void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  Progress& progress = *new (shared) Progress{};
  std::printf("mutations from seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that takes too long is ended by killing this child's parent
    run_all(options, corpus, progress);
    return 0;
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return 2;
  if (status != 0) {
    report_failure(options, corpus, progress, status);
    return 1;
  }
  std::printf("%zu corpus files, %llu mutations, no failure\n", corpus.size(),
              static_cast<unsigned long long>(progress.mutations));
  return 0;
}
