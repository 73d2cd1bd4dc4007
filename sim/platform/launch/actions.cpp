#include <algorithm>
#include <charconv>
#include <cmath>

#include "platform/launch/launch.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace platform { namespace launch {
namespace {

template <class T>
std::optional<T> whole(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int count(const Reading& reading, std::string_view text, const Given& option) {
  const auto number = whole<int>(text);
  if (!number || *number < 1 || *number > most_devices) {
    reading.where.fail("a whole number from 1 to " + std::to_string(most_devices) + " after " + option.name,
                       quoted(text));
  }
  return *number;
}

/// A number that is given twice must be the same twice.
void set_once(const Reading& reading, std::optional<int>& number, int value, const Given& option) {
  if (number && *number != value) {
    reading.where.fail("one value for " + option.name, std::to_string(*number) + " and " + std::to_string(value));
  }
  number = value;
}

std::string_view take_until(std::string_view& text, char end) {
  const auto length = std::min(text.find(end), text.size());
  const std::string_view head = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return head;
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

void set_ranks_per_node(Reading& reading, const Given& option) {
  set_once(reading, reading.ranks_per_node, count(reading, option.arguments.front(), option), option);
}

void set_one_rank_per_node(Reading& reading, const Given& option) {
  set_once(reading, reading.ranks_per_node, 1, option);
}

void set_by_node(Reading& reading, const Given&) {
  reading.by_node = true;
}

void set_mapping(Reading& reading, const Given& option) {
  std::string_view rest = option.arguments.front();
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
  set(reading, option.variable, option.arguments.front());
}

void set_on(Reading& reading, const Given& option) {
  set(reading, option.variable, "1");
}

void set_off(Reading& reading, const Given& option) {
  set(reading, option.variable, "0");
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

}}}  // namespace farandole::platform::launch
