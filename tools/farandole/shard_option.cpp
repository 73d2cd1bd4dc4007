#include "shard_option.hpp"

#include "command.hpp"

namespace farandole {

StudyShard parse_shard(const std::string& text) {
  if (text.empty()) return {};
  const auto slash = text.find('/');
  const std::string expected = "I/N, such as 2/3: the second of three shards";
  if (slash == std::string::npos) refuse_option("--shard", expected, text);
  const int of = whole_number("--shard", text.substr(slash + 1), 1);
  const int index = whole_number("--shard", text.substr(0, slash), 0);
  if (index > of) refuse_option("--shard", expected, text);
  return {index == 0 ? of : index, of};
}

}  // namespace farandole
