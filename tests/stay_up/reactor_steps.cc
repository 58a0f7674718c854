// Measures how long each reactor of a server works between two waits for events, which is how long its other
// clients wait. Preload this library into a server (LD_PRELOAD), with REACTOR_STEPS naming the file for the
// results.
//
// A step that takes more than 5 ms of CPU, or that is blocked for more than 5 ms, adds a line to the file:
//
//   cpu_ms blocked_ms delayed_ms
//
// blocked: it waited for a lock or a device. delayed: it was ready to run, and the processors were busy; that
// is not the server's fault. With REACTOR_STEPS_TRACE=1, stacks of long steps follow, one frame per line.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr double limit_seconds = 0.005;
constexpr int max_frames = 48, max_stacks = 3;

double read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

int open_results() {
  const char* path = std::getenv("REACTOR_STEPS");
  return path == nullptr ? -1 : ::open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
}

// The three clocks of a step.
struct Times {
  double wall = 0, cpu = 0, delayed = 0;
};

// The steps of the current thread.
class Steps {
 public:
  bool is_reactor() {
    if (is_known_) return is_reactor_;
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    // The name is set by the thread that starts this one, so it may come late.
    is_known_ = is_reactor_ = std::string_view(name).starts_with("sibyl-react");
    if (is_reactor_) start();
    return is_reactor_;
  }

  void begin() {
    stacks_ = 0;
    begun_ = now();
    for (const timer_t timer : {cpu_timer_, wall_timer_})
      if (has_timers_) arm(timer);
    is_running_ = true;
  }

  void end() {
    if (!is_running_) return;
    is_running_ = false;
    const Times ended = now();
    const double wall = ended.wall - begun_.wall, cpu = ended.cpu - begun_.cpu;
    const double delayed = ended.delayed - begun_.delayed, blocked = wall - cpu - delayed;
    if (cpu < limit_seconds && blocked < limit_seconds) return;
    static const int results = open_results();
    dprintf(results, "%.1f %.1f %.1f\n", cpu * 1e3, blocked * 1e3, delayed * 1e3);
    for (int i = 0; i < stacks_; ++i) backtrace_symbols_fd(frames_[i], depths_[i], results);
  }

  void take_stack() {
    if (!is_running_ || stacks_ == max_stacks) return;
    depths_[stacks_] = backtrace(frames_[stacks_], max_frames);
    ++stacks_;
  }

 private:
  void start() {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", ::syscall(SYS_gettid));
    schedule_ = ::open(path, O_RDONLY | O_CLOEXEC);
    has_timers_ = std::getenv("REACTOR_STEPS_TRACE") != nullptr;
    if (!has_timers_) return;
    void* loaded[1];
    backtrace(loaded, 1);  // loads libgcc now, since a signal handler must not
    struct sigaction action{};
    action.sa_handler = on_timer;
    action.sa_flags = SA_RESTART;
    sigaction(SIGRTMIN + 5, &action, nullptr);
    cpu_timer_ = make_timer(CLOCK_THREAD_CPUTIME_ID);
    wall_timer_ = make_timer(CLOCK_MONOTONIC);
  }

  static void on_timer(int);

  static timer_t make_timer(clockid_t clock) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN + 5;
    event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
    timer_t timer{};
    timer_create(clock, &event, &timer);
    return timer;
  }

  static void arm(timer_t timer) {
    itimerspec when{};
    when.it_value.tv_nsec = static_cast<long>(limit_seconds * 0.8e9);
    timer_settime(timer, 0, &when, nullptr);
  }

  Times now() const {
    char text[64] = "";
    unsigned long long run = 0, delayed = 0;
    if (::pread(schedule_, text, sizeof text - 1, 0) > 0) std::sscanf(text, "%llu %llu", &run, &delayed);
    return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_THREAD_CPUTIME_ID),
            static_cast<double>(delayed) / 1e9};
  }

  bool is_known_ = false, is_reactor_ = false, is_running_ = false, has_timers_ = false;
  int schedule_ = -1;
  timer_t cpu_timer_{}, wall_timer_{};
  Times begun_;
  int stacks_ = 0;
  void* frames_[max_stacks][max_frames];
  int depths_[max_stacks];
};

thread_local Steps steps;

void Steps::on_timer(int) {
  const int before = errno;
  steps.take_stack();
  errno = before;
}

}  // namespace

extern "C" int epoll_wait(int file, epoll_event* events, int max_events, int timeout) {
  using Function = int (*)(int, epoll_event*, int, int);
  static const auto wait = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "epoll_wait"));
  if (!steps.is_reactor()) return wait(file, events, max_events, timeout);
  steps.end();
  const int result = wait(file, events, max_events, timeout);
  const int error = errno;
  steps.begin();
  errno = error;
  return result;
}
