#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "platform/launch/launch.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace platform { namespace launch {
namespace {

/// Which variable was not set, where a number was expected.
std::string what_is_not_known(std::string_view text) {
  const auto dollar = std::min(text.find('$'), text.size());
  const std::string_view rest = text.substr(dollar);
  if (rest.starts_with("$(") && !rest.starts_with("$((")) return "; what a command prints is not known here";
  const auto start = std::ranges::find_if(rest, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const auto end = std::find_if(start, rest.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
  if (start == end) return {};
  const std::string name(start, end);
  return "; the value of " + name + " is not in what was pasted: write " + name + "=NUMBER before it";
}

int count(const Reading& reading, std::string_view text, const Given& option) {
  const auto number = whole<int>(text);
  if (!number || *number < 1 || *number > most_devices) {
    reading.where.fail("a whole number from 1 to " + std::to_string(most_devices) + " after " + option.name,
                       quoted(text), what_is_not_known(text));
  }
  return *number;
}

/// `a * b`, which is a number of ranks.
int product(const Reading& reading, int a, int b) {
  const std::int64_t ranks = std::int64_t{a} * b;
  if (ranks > most_devices) {
    reading.where.fail("at most " + std::to_string(most_devices) + " ranks", std::to_string(ranks));
  }
  return static_cast<int>(ranks);
}

/// A number that is given twice must be the same twice.
void set_once(const Reading& reading, std::optional<int>& number, int value, const Given& option) {
  if (number && *number != value) {
    reading.where.fail("one value for " + option.name, std::to_string(*number) + " and " + std::to_string(value));
  }
  number = value;
}

WrittenHost read_written_host(const Reading& reading, std::string_view text, const Given& option) {
  std::string_view slots = text;
  WrittenHost host{std::string(take_until(slots, ':')), std::nullopt};
  if (host.name.empty()) reading.where.fail("a host's name in " + option.name, quoted(option.arguments.front()));
  if (host.name.size() == text.size()) return host;
  host.slots = whole<int>(slots);
  if (!host.slots || *host.slots < 1 || *host.slots > most_devices) {
    reading.where.fail("HOST:SLOTS with at least one slot in " + option.name, quoted(text));
  }
  return host;
}

void set(Reading& reading, std::string_view variable, std::string_view value) {
  reading.environment.insert_or_assign(std::string(variable), std::string(value));
}

}  // namespace

void ignore(Reading& reading, const Given& option) {
  reading.ignored.push_back(option.text());
}

void refuse(Reading& reading, const Given& option) {
  reading.where.fail("a launch line that says how many ranks each node gets", quoted(option.text()));
}

void set_ranks(Reading& reading, const Given& option) {
  set_once(reading, reading.ranks, count(reading, option.arguments.front(), option), option);
}

void keep(Reading& reading, const Given& option) {
  reading.job.emplace_back(option.name, option.arguments.empty() ? "" : option.arguments.front());
}

void pass(Reading&, const Given&) {}

void set_nodes(Reading& reading, const Given& option) {
  const std::string_view text = option.arguments.front();
  const auto least = text.find_first_of(":-");
  const bool is_range = least != std::string_view::npos && whole<int>(text.substr(0, least));
  set_once(reading, reading.nodes, count(reading, is_range ? text.substr(least + 1) : text, option), option);
}

void set_devices(Reading& reading, const Given& option) {
  std::string_view rest = option.arguments.front();
  const std::string_view text = take_until(rest, ',');
  // Other resources than GPUs are no devices.
  if (option.name.ends_with("gres") && !text.starts_with("gpu")) return ignore(reading, option);
  const auto colon = text.rfind(':');
  const auto devices = whole<int>(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (devices && *devices >= 1 && *devices <= most_devices) reading.devices = devices;
}

void list_nodes(Reading& reading, const Given& option) {
  std::string_view rest = option.arguments.front();
  std::int64_t all = 0;
  std::int64_t here = 1;  // nodes that the name being read stands for
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == ',') all += std::exchange(here, 1);
    if (c != '[') continue;
    std::string_view ranges = take_until(rest, ']');
    std::int64_t numbers = 0;
    do {
      std::string_view last = take_until(ranges, ',');
      const auto first = whole<int>(take_until(last, '-'));
      const auto end = last.empty() ? first : whole<int>(last);
      if (!first || !end || *end < *first) {
        reading.where.fail("nodes such as node[01-04,7] after " + option.name, quoted(option.arguments.front()));
      }
      numbers += std::int64_t{*end} - *first + 1;
    } while (!ranges.empty());
    here = std::min(here * numbers, std::int64_t{most_devices});
  }
  const bool is_known = option.arguments.front().find_first_of("$/") == std::string::npos;
  if (is_known) reading.listed = static_cast<int>(std::min(all + here, std::int64_t{most_devices}));
}

void add_included(Reading& reading, const Given& option) {
  std::string_view rest = option.arguments.front();
  while (!rest.empty()) {
    std::string_view devices = take_until(rest, '@');
    WrittenHost host{std::string(take_until(devices, ':')), std::nullopt};
    if (host.name.empty() || devices.empty()) {
      reading.where.fail("hosts with their devices, HOST:0,1@HOST:0,1, after " + option.name,
                         quoted(option.arguments.front()));
    }
    host.slots = static_cast<int>(std::ranges::count(devices, ',')) + 1;
    reading.hosts.push_back(std::move(host));
  }
}

void set_ranks_per_node(Reading& reading, const Given& option) {
  if (option.arguments.empty()) return set_once(reading, reading.ranks_per_node, 1, option);
  const std::string& text = option.arguments.front();
  if (text == "gpu" || text == "auto") {
    if (reading.devices) return set_once(reading, reading.ranks_per_node, *reading.devices, option);
    reading.where.fail("a number after " + option.name, quoted(text), "; write how many GPUs a node has");
  }
  set_once(reading, reading.ranks_per_node, count(reading, option.arguments.front(), option), option);
}

void set_mapping(Reading& reading, const Given& option) {
  std::string_view rest = "node";
  if (!option.arguments.empty()) rest = option.arguments.front();
  const std::string_view unit = take_until(rest, ':');
  if (unit == "node") {
    reading.by_node = true;
  } else if (unit == "ppr") {
    const std::string_view ranks = take_until(rest, ':');
    // Ranks per socket or core say nothing about a node whose sockets are not known.
    if (take_until(rest, ':') != "node") refuse(reading, option);
    set_once(reading, reading.ranks_per_node, count(reading, ranks, option), option);
  } else {
    ignore(reading, option);  // slot, core, socket, ...: host after host, as without the option
  }
}

void add_hosts(Reading& reading, const Given& option) {
  std::string_view rest = option.arguments.front();
  if (rest.empty() || rest.back() == ',') reading.where.fail("a host's name in " + option.name, quoted(rest));
  while (!rest.empty()) reading.hosts.push_back(read_written_host(reading, take_until(rest, ','), option));
}

void set_variable(Reading& reading, const Given& option) {
  std::string_view value = option.arguments.front();
  const std::string_view variable = take_until(value, '=');
  const bool horovod = variable.starts_with("HOROVOD_");
  if (horovod && option.arguments.size() == 2) {
    set(reading, variable, option.arguments.back());
  } else if (horovod && variable.size() < option.arguments.front().size()) {
    set(reading, variable, value);
  } else if (!reading.environment.contains(std::string(variable))) {
    ignore(reading, option);
  }
}

void set_text(Reading& reading, const Given& option) {
  const bool is_off = option.name.starts_with("--no") || option.name.starts_with("-no");
  set(reading, option.variable, !option.arguments.empty() ? option.arguments.front() : is_off ? "0" : "1");
}

void set_gloo(Reading& reading, const Given& option) {
  set(reading, option.variable, "gloo");
}

void set_number(Reading& reading, const Given& option) {
  const auto number = whole<double>(option.arguments.front());
  if (!number || !std::isfinite(*number) || *number < 0) {
    reading.where.fail("a number after " + option.name, quoted(option.arguments.front()));
  }
  set(reading, option.variable, option.arguments.front());
}

void set_mebibytes(Reading& reading, const Given& option) {
  constexpr long long mebibyte = 1024LL * 1024;
  const auto number = whole<long long>(option.arguments.front());
  if (!number || *number < 0 || *number > mebibyte) {
    reading.where.fail("a whole number of MiB after " + option.name, quoted(option.arguments.front()));
  }
  set(reading, option.variable, std::to_string(*number * mebibyte));
}

// What was not said: from the rest of the line, and from what the script asked for.

void settle_mpi(Reading& reading, const Reading& script) {
  if (reading.ranks || !reading.hosts.empty()) return;
  Reading asked = script;
  if (reading.ranks_per_node) {
    asked.ranks_per_node = reading.ranks_per_node;
    asked.ranks.reset();
    if (!script.nodes) return;
  }
  settle_slurm(asked, asked);
  reading.ranks = asked.ranks;
  reading.ranks_per_node = asked.ranks_per_node;
}

void settle_slurm(Reading& reading, const Reading& script) {
  if (!reading.nodes) reading.nodes = reading.listed ? reading.listed : script.nodes ? script.nodes : script.listed;
  if (!reading.ranks && !reading.ranks_per_node) {
    reading.ranks = script.ranks;
    reading.ranks_per_node = script.ranks_per_node;
  }
  if (!reading.devices) reading.devices = script.devices;
  if (!reading.ranks && reading.nodes) {
    reading.ranks = product(reading, *reading.nodes, reading.ranks_per_node.value_or(1));
  }
  if (!reading.ranks || !reading.nodes) return;
  const int needed = (*reading.ranks + *reading.nodes - 1) / *reading.nodes;
  if (reading.ranks_per_node && needed > *reading.ranks_per_node) {
    reading.where.fail("at most " + std::to_string(*reading.ranks_per_node) + " tasks on each of " +
                           std::to_string(*reading.nodes) + " nodes",
                       std::to_string(*reading.ranks) + " tasks");
  }
  reading.ranks_per_node = needed;
}

void settle_torchrun(Reading& reading, const Reading&) {
  if (!reading.nodes) reading.nodes = 1;
  if (!reading.ranks_per_node) reading.ranks_per_node = 1;
  reading.ranks = product(reading, *reading.nodes, *reading.ranks_per_node);
}

void settle_accelerate(Reading& reading, const Reading&) {
  const auto file =
      std::ranges::find_if(reading.job, [](const auto& option) { return option.first == "--config_file"; });
  if (!reading.ranks && file != reading.job.end() && reading.read_file) {
    const Node tree = parse_yaml(reading.read_file(file->second), file->second);
    for (const auto& [key, value] : Value(tree, "").members()) {
      const auto* number = std::get_if<std::int64_t>(&value.node().value);
      if (key != "num_processes" && key != "num_machines") continue;
      if (number == nullptr || *number < 1 || *number > most_devices) value.fail("a number of ranks or nodes");
      auto& count = key == "num_machines" ? reading.nodes : reading.ranks;
      if (!count) count = static_cast<int>(*number);
    }
    file->first = "config_file";
  }
  if (!reading.nodes) reading.nodes = 1;
  if (reading.devices && !reading.ranks) reading.ranks = product(reading, *reading.nodes, *reading.devices);
  if (!reading.ranks) return;
  if (*reading.ranks % *reading.nodes != 0) {
    reading.where.fail("as many processes on each of " + std::to_string(*reading.nodes) + " machines",
                       "--num_processes " + std::to_string(*reading.ranks));
  }
  reading.ranks_per_node = *reading.ranks / *reading.nodes;
}

void settle_deepspeed(Reading& reading, const Reading&) {
  if (!reading.hosts.empty()) return;
  const auto file = std::ranges::find_if(
      reading.job, [](const auto& option) { return option.first == "--hostfile" || option.first == "-H"; });
  if (file != reading.job.end() && reading.read_file && !(reading.nodes && reading.ranks_per_node)) {
    std::string text = reading.read_file(file->second);
    const auto words = split_words(text, reading);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const auto slots = words[i + 1].starts_with("slots=") ? whole<int>(words[i + 1].substr(6)) : std::nullopt;
      if (!slots || *slots < 1) continue;
      if (reading.nodes && std::ssize(reading.hosts) == *reading.nodes) break;
      reading.hosts.push_back({words[i], std::min(*slots, reading.ranks_per_node.value_or(*slots))});
    }
    file->first = "hostfile";
    if (!reading.hosts.empty()) return;
  }
  if (!reading.ranks_per_node) reading.ranks_per_node = reading.devices;
  if (!reading.ranks_per_node) return;
  reading.ranks = product(reading, reading.nodes.value_or(1), *reading.ranks_per_node);
}

}}}  // namespace farandole::platform::launch
