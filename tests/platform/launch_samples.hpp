// What tests of launch lines share.
#pragma once

#include <string>
#include <vector>

#include "platform/launch_line.hpp"
#include "platform/samples.hpp"

namespace farandole {

inline LaunchLine line_of(std::string_view text) {
  return parse_launch_line(text, anywhere());
}

inline std::string refusal_of(std::string_view text) {
  return message_of([&] { line_of(text); });
}

/// "a:4", "b:4".
inline std::vector<std::string> hosts_of(const LaunchLine& line) {
  std::vector<std::string> hosts;
  for (const Host& host : line.hosts) hosts.push_back(host.name + ":" + std::to_string(host.slots));
  return hosts;
}

}  // namespace farandole
