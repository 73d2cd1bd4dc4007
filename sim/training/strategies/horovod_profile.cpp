#include "training/strategies/horovod_profile.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "units/mapped.hpp"

namespace farandole { inline namespace training {
namespace {

using Version = std::array<int, 3>;

std::optional<Version> parse_version(std::string_view text) {
  Version version{};
  for (std::size_t part = 0; part < version.size(); ++part) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version[part]);
    if (error != std::errc{} || version[part] < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool last = part + 1 == version.size();
    if (last ? !text.empty() : !text.starts_with('.')) return std::nullopt;
    if (!last) text.remove_prefix(1);
  }
  return version;
}

struct Release {
  Version from;
  Bytes fusion_threshold;
  Seconds cycle;
  bool sleeps_after_pass;
  bool cycle_time_adjustable;
  int cache_capacity;
};

constexpr Version collective_negotiation{0, 13, 3};
constexpr Version batched_copies{0, 21, 0};
constexpr Version does_not_wait{0, 23, 0};

constexpr std::array releases{
    Release{{0, 9, 0}, 0_MiB, 5_ms, true, false, 0},      Release{{0, 9, 3}, 64_MiB, 5_ms, true, false, 0},
    Release{{0, 13, 3}, 64_MiB, 5_ms, true, true, 0},     Release{{0, 13, 8}, 64_MiB, 5_ms, false, true, 0},
    Release{{0, 16, 2}, 64_MiB, 5_ms, false, true, 1024}, Release{{0, 21, 0}, 128_MiB, 1_ms, false, true, 1024},
};

}  // namespace

bool is_at_least(const std::string& version, const std::string& least) {
  return parse_version(version) >= parse_version(least);
}

HorovodProfile horovod_profile(const std::string& version, const Value& where) {
  const auto wanted = parse_version(version);
  if (!wanted) where.fail("a Horovod version such as \"0.13.8\"", quoted(version));
  if (*wanted < releases.front().from) where.fail("Horovod 0.9.0 or later", quoted(version));
  const Release* found = nullptr;
  for (const Release& release : releases) {
    if (release.from <= *wanted) found = &release;
  }
  HorovodProfile profile{version,
                         found->fusion_threshold,
                         found->cycle,
                         found->sleeps_after_pass,
                         found->cycle_time_adjustable,
                         found->cache_capacity};
  if (*wanted < collective_negotiation) profile.negotiation = Negotiation::point_to_point;
  profile.batched_copies = *wanted >= batched_copies;
  profile.waits_for_data = *wanted < does_not_wait;
  return profile;
}

Bytes rounded_for_nodes(Bytes size, Bytes element, int ranks_per_node) {
  constexpr double atomic_unit = 64;
  const Bytes unit = ranks_per_node * atomic_unit * element;
  return std::ceil(size / unit) * unit;
}

Bytes fusion_buffer(const HorovodProfile& profile, int ranks_per_node) {
  if (!profile.hierarchical_allreduce) return profile.fusion_threshold;
  return rounded_for_nodes(profile.fusion_threshold, 8_B, ranks_per_node);
}

// HOROVOD_* variables, as users paste them: what each changes in the profile of a version.
//
// One row per variable. A variable is simulated, named as one without meaning here, or, where it would change the
// answer and is not simulated, refused.

namespace {

double number(const std::string& name, const std::string& text, std::string_view what, const Value& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0) || value > 1e15) {
    where.fail(fmt::format("{} as Horovod writes it, {}", name, what), quoted(text));
  }
  return value;
}

struct Context {
  HorovodProfile& profile;
  std::vector<std::string>& ignored;
  const std::string& name;
  const std::string& text;
  const Value& where;
};

int whole_number(const Context& c, std::string_view what, double most) {
  const double value = number(c.name, c.text, what, c.where);
  if (value != std::floor(value) || value > most) {
    c.where.fail(fmt::format("{}, a whole number up to {}", c.name, most), quoted(c.text));
  }
  return static_cast<int>(value);
}

void fusion_threshold(Context c) {
  c.profile.fusion_threshold = Bytes(number(c.name, c.text, "a bare number of bytes", c.where));
  c.profile.tunable.fusion_threshold = false;
}

void cycle_time(Context c) {
  const double milliseconds = number(c.name, c.text, "a bare number of milliseconds", c.where);
  if (c.profile.cycle_time_adjustable) {
    c.profile.cycle = Seconds(milliseconds * 1e-3);
    c.profile.tunable.cycle_time = false;
  } else {
    c.ignored.push_back(fmt::format("{} (Horovod {} always waits 5 ms)", c.name, c.profile.version));
  }
}

void cache_capacity(Context c) {
  const int capacity = whole_number(c, "a number of tensors", 1e9);
  if (c.profile.cache_capacity > 0) {
    c.profile.cache_capacity = capacity;
    c.profile.tunable.cache_enabled = false;
  } else {
    c.ignored.push_back(fmt::format("{} (Horovod {} has no response cache)", c.name, c.profile.version));
  }
}

bool on(const Context& c) {
  return number(c.name, c.text, "0 or 1", c.where) != 0;
}

/// Whether the version knows it; if not it never looks at the variable.
bool is_known(const Context& c, const char* since, const char* what) {
  if (is_at_least(c.profile.version, since)) return true;
  c.ignored.push_back(fmt::format("{} (Horovod {} has no {})", c.name, c.profile.version, what));
  return false;
}

void hierarchical_allreduce(Context c) {
  if (!is_known(c, "0.13.6", "hierarchical allreduce")) return;
  if (on(c) && !is_at_least(c.profile.version, "0.14.1")) {
    c.where.fail(fmt::format("Horovod 0.14.1 or later for {}", c.name), c.profile.version,
                 "; before, one rank of a node reduced for all, which is not simulated");
  }
  c.profile.hierarchical_allreduce = on(c);
  c.profile.tunable.hierarchical_allreduce = false;
}

void hierarchical_allgather(Context c) {
  c.profile.hierarchical_allgather = on(c);
  c.profile.tunable.hierarchical_allgather = false;
}

void num_nccl_streams(Context c) {
  c.profile.streams = std::max(1, whole_number(c, "a number of streams", 64));
}

/// What it changes is when a framework's host may go on, which has no part in the simulation.
void enable_async_completion(Context c) {
  if (!is_known(c, "0.23.0", "asynchronous completion") || !on(c)) return;
  c.where.fail(fmt::format("{} off", c.name), quoted(c.text),
               "; a host that goes on to the next step before collectives are over is not simulated");
}

void controller(Context c) {
  std::string name = c.text;
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  if (name != "mpi" && name != "gloo") c.where.fail(fmt::format("{}, mpi or gloo", c.name), quoted(c.text));
  if (!is_known(c, "0.18.0", "choice of controllers") || name == "mpi") return;
  const bool gathers = is_at_least(c.profile.version, "0.26.0");
  c.profile.negotiation = gathers ? Negotiation::gloo_gather : Negotiation::gloo_allgather;
}

/// Since 0.16.0; older ones never look at it.
void autotune(Context c) {
  if (!on(c)) return;
  if (is_at_least(c.profile.version, "0.16.0")) {
    c.profile.autotune = AutotuneSettings{};
  } else {
    c.ignored.push_back(fmt::format("{} (Horovod {} has no autotuner)", c.name, c.profile.version));
  }
}

/// A detail of the autotuner, which means nothing without it.
AutotuneSettings* tuner_of(Context c) {
  if (!c.profile.autotune) c.ignored.push_back(fmt::format("{} (HOROVOD_AUTOTUNE is off)", c.name));
  return c.profile.autotune ? &*c.profile.autotune : nullptr;
}

template <int AutotuneSettings::*Member, int Least>
void autotune_count(Context c) {
  const double value = number(c.name, c.text, "a whole number", c.where);
  if (value != std::floor(value) || value < Least || value > 1e6) {
    c.where.fail(fmt::format("{}, a whole number of at least {}", c.name, Least), quoted(c.text));
  }
  if (AutotuneSettings* tuner = tuner_of(c)) tuner->*Member = static_cast<int>(value);
}

void autotune_noise(Context c) {
  const double noise = number(c.name, c.text, "a number", c.where);
  if (noise == 0) c.where.fail(fmt::format("{} above 0", c.name), quoted(c.text));
  if (AutotuneSettings* tuner = tuner_of(c)) tuner->noise = noise;
}

void autotune_log(Context c) {
  if (tuner_of(c) == nullptr) return;
  c.ignored.push_back(fmt::format("{} (not written; \"autotune\" of --format json lists what was tried)", c.name));
}

/// A scenario may be a stranger's: only what the command line names is written.
void timeline(Context c) {
  c.ignored.push_back(fmt::format("{} (not written; --timeline FILE writes it)", c.name));
}

void no_meaning(Context c) {
  c.ignored.push_back(c.name);
}

/// Features that change the answer and are not simulated: off is fine, on is refused rather than ignored.
void must_be_off(Context c) {
  if (c.text != "0" && !c.text.empty()) {
    c.where.fail(fmt::format("{} off", c.name), quoted(c.text), "; it is not simulated yet");
  }
}

struct EnvironmentVariable {
  const char* name;
  void (*apply)(Context);
};

constexpr std::array environment_variables{
    EnvironmentVariable{"HOROVOD_FUSION_THRESHOLD", fusion_threshold},
    EnvironmentVariable{"HOROVOD_CYCLE_TIME", cycle_time},
    EnvironmentVariable{"HOROVOD_CACHE_CAPACITY", cache_capacity},
    EnvironmentVariable{"HOROVOD_TIMELINE", timeline},
    EnvironmentVariable{"HOROVOD_TIMELINE_MARK_CYCLES", no_meaning},
    EnvironmentVariable{"HOROVOD_STALL_CHECK_DISABLE", no_meaning},
    EnvironmentVariable{"HOROVOD_STALL_CHECK_TIME_SECONDS", no_meaning},
    EnvironmentVariable{"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", no_meaning},
    EnvironmentVariable{"HOROVOD_LOG_LEVEL", no_meaning},
    EnvironmentVariable{"HOROVOD_LOG_HIDE_TIME", no_meaning},
    EnvironmentVariable{"HOROVOD_THREAD_AFFINITY", no_meaning},
    EnvironmentVariable{"HOROVOD_MPI_THREADS_DISABLE", no_meaning},
    EnvironmentVariable{"HOROVOD_CONTROLLER", controller},
    EnvironmentVariable{"HOROVOD_CPU_OPERATIONS", no_meaning},
    EnvironmentVariable{"HOROVOD_NUM_NCCL_STREAMS", num_nccl_streams},
    EnvironmentVariable{"HOROVOD_GLOO_TIMEOUT_SECONDS", no_meaning},
    EnvironmentVariable{"HOROVOD_GLOO_IFACE", no_meaning},
    EnvironmentVariable{"HOROVOD_CCL_CACHE", no_meaning},
    EnvironmentVariable{"HOROVOD_DISABLE_NVTX_RANGES", no_meaning},
    EnvironmentVariable{"HOROVOD_DYNAMIC_PROCESS_SETS", no_meaning},
    EnvironmentVariable{"HOROVOD_ADASUM_MPI_CHUNK_SIZE", no_meaning},
    EnvironmentVariable{"HOROVOD_BATCH_D2D_MEMCOPIES",
                        [](Context c) {
                          if (is_known(c, "0.21.0", "batched copies")) c.profile.batched_copies = on(c);
                        }},
    EnvironmentVariable{"HOROVOD_ENABLE_ASYNC_COMPLETION", enable_async_completion},
    EnvironmentVariable{"HOROVOD_ENABLE_XLA_OPS", must_be_off},
    EnvironmentVariable{"HOROVOD_TORUS_ALLREDUCE",  // without NCCL there is none (scenario/read_scenario.cpp)
                        [](Context c) {
                          if (is_known(c, "0.26.0", "torus allreduce")) c.profile.torus_allreduce = on(c);
                        }},
    EnvironmentVariable{"HOROVOD_DISABLE_GROUP_FUSION", [](Context c) { c.profile.fuses_groups = !on(c); }},
    EnvironmentVariable{"HOROVOD_HIERARCHICAL_ALLREDUCE", hierarchical_allreduce},
    EnvironmentVariable{"HOROVOD_HIERARCHICAL_ALLGATHER", hierarchical_allgather},
    // In the order of their names: HOROVOD_AUTOTUNE itself comes before its details.
    EnvironmentVariable{"HOROVOD_AUTOTUNE", autotune},
    EnvironmentVariable{"HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES", autotune_count<&AutotuneSettings::max_samples, 1>},
    EnvironmentVariable{"HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", autotune_noise},
    EnvironmentVariable{"HOROVOD_AUTOTUNE_LOG", autotune_log},
    EnvironmentVariable{"HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE", autotune_count<&AutotuneSettings::steps_per_sample, 1>},
    EnvironmentVariable{"HOROVOD_AUTOTUNE_WARMUP_SAMPLES", autotune_count<&AutotuneSettings::warmup_samples, 0>},
};

}  // namespace

std::vector<std::string> apply_environment(HorovodProfile& profile,
                                           const std::map<std::string, std::string>& environment, const Value& where) {
  std::vector<std::string> ignored;
  for (const auto& [name, text] : environment) {
    const auto* found = std::ranges::find(environment_variables, name, &EnvironmentVariable::name);
    if (found == environment_variables.end()) {
      const auto name_of = [](const EnvironmentVariable& known) { return std::string(known.name); };
      where.fail("a HOROVOD_* setting", quoted(name), suggestion(name, mapped(environment_variables, name_of)));
    }
    found->apply({profile, ignored, name, text, where});
  }
  return ignored;
}

}}  // namespace farandole::training
