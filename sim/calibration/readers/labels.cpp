#include <algorithm>
#include <cctype>
#include <map>

#include "calibration/readers/readers.hpp"

namespace farandole { inline namespace calibration {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// How many characters of `text` the pattern takes: '9' is one digit, '+' one digit or more, ' ' blanks, one or more,
/// other characters themselves. 0: it is not there.
std::size_t matched(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  const auto run = [&](auto is_part) {
    const std::size_t begin = at;
    while (at < text.size() && is_part(text[at])) ++at;
    return at > begin;
  };
  for (const char wanted : pattern) {
    if (wanted == '+' || wanted == ' ') {
      const bool is_there = wanted == '+' ? run(is_digit) : run([](char c) { return c == ' ' || c == '\t'; });
      if (!is_there) return 0;
      continue;
    }
    if (at >= text.size() || (wanted == '9' ? !is_digit(text[at]) : text[at] != wanted)) return 0;
    ++at;
  }
  return at;
}

/// "T10:23:45.123Z", " 10:23:45,123+00:00": what follows a date, or stands alone.
std::size_t time_of_day(std::string_view text) {
  std::size_t at = matched(text, "99:99:99");
  if (at == 0) return 0;
  for (const char* fraction : {".+", ",+"}) at += matched(text.substr(at), fraction);
  for (const char* zone : {"Z", "+00:00"}) {
    if (text.substr(at).starts_with(zone)) at += std::string_view(zone).size();
  }
  return at + std::max(matched(text.substr(at), "-99:99"), matched(text.substr(at), "-9999"));
}

bool is_month(std::string_view text) {
  constexpr std::string_view months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
  return text.size() > 4 && months.find(text.substr(0, 4)) % 4 == 0;
}

/// "2026-11-24T10:23:45Z", "2026/11/24 10:23:45", "Nov 24 10:23:45", "10:23:45".
std::size_t timestamp(std::string_view text) {
  std::size_t date = is_month(text) ? 4 + matched(text.substr(4), "+ ") : 0;
  for (const char* form : {"9999-99-99T", "9999-99-99 ", "9999/99/99 "}) date = std::max(date, matched(text, form));
  const std::size_t clock = time_of_day(text.substr(date));
  return clock > 0 ? date + clock : 0;
}

/// A timestamp, with or without brackets, and a blank after it; the word for the stream that containers' logs have.
std::size_t timestamp_label(std::string_view text) {
  const bool is_bracketed = text.starts_with('[');
  std::size_t at = timestamp(text.substr(is_bracketed ? 1 : 0));
  if (at == 0) return 0;
  if (is_bracketed && !text.substr(at + 1).starts_with(']')) return 0;
  at += is_bracketed ? 2 : 0;
  const std::size_t blank = matched(text.substr(at), " ");
  if (blank == 0 && at < text.size()) return 0;
  at += blank;
  for (const char* stream : {"stdout F ", "stderr F "}) at += matched(text.substr(at), stream);
  return at;
}

/// "[1,0]<stdout>:" (Open MPI), "[prterun-node1-77@1,0]<stdout>:" (PRRTE): all in brackets, then the stream.
std::size_t stream_label(std::string_view text) {
  if (!text.starts_with('[')) return 0;
  const auto end = text.find(']');
  if (end == std::string_view::npos || text.substr(0, end).find_first_of(" \t") != std::string_view::npos) return 0;
  for (const std::string_view stream : {"<stdout>:", "<stderr>:"}) {
    if (text.substr(end + 1).starts_with(stream)) return end + 1 + stream.size();
  }
  return 0;
}

/// "[0] " (MPICH -prepend-rank, Intel MPI -l), "0: " (srun -l), "node1 0: " (PALS --label).
std::size_t rank_label(std::string_view text) {
  for (const char* label : {"[+] ", "+: "}) {
    if (const std::size_t at = matched(text, label); at > 0) return at;
  }
  const auto end = text.find_first_of(" \t");
  const bool is_name = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  if (!is_name || end == std::string_view::npos) return 0;
  const std::size_t rank = matched(text.substr(end), " +: ");
  return rank > 0 ? end + rank : 0;
}

std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

}  // namespace

std::string_view host_label(std::string_view text) {
  const std::string_view label = text.substr(0, text.find(':') + 1);
  const bool is_name = !label.empty() && std::isalpha(static_cast<unsigned char>(label.front())) != 0;
  if (!is_name || text.find(std::string(label) + " #") == std::string_view::npos) return {};
  for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1)) {
    if (!text.starts_with(label) && !text.starts_with('\n')) return {};
  }
  return label;
}

std::string_view without_labels(std::string_view line, std::string_view host) {
  constexpr int most_labels = 4;
  if (line.starts_with(host)) line.remove_prefix(host.size());
  for (int label = 0; label < most_labels; ++label) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return line;
    const std::string_view text = line.substr(begin);
    const std::size_t length = std::max({stream_label(text), timestamp_label(text), rank_label(text)});
    if (length == 0) return line;
    line = text.substr(length);
  }
  return line;
}

std::optional<std::string> operation_called(std::string_view name) {
  // By their letters, small ones.
  static const std::map<std::string, std::string> known{{"allreduce", "allreduce"},
                                                        {"reducescatter", "reduce_scatter"},
                                                        {"allgather", "allgather"},
                                                        {"broadcast", "broadcast"},
                                                        {"bcast", "broadcast"},
                                                        {"alltoall", "alltoall"},
                                                        {"alltoallpersonalizedexchange", "alltoall"},
                                                        {"reduce", "reduce"},
                                                        {"gather", "gather"},
                                                        {"scatter", "scatter"},
                                                        {"barrier", "barrier"},
                                                        {"parameterserver", "parameter_server"},
                                                        {"pingpong", "pingpong"},
                                                        {"exchange", "exchange"}};
  const auto found = known.find(letters_of(name));
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::string algorithm_called(std::string_view operation, std::string_view name) {
  static const std::map<std::pair<std::string, std::string>, std::string> known{
      {{"allreduce", "rabenseifner"}, "doubling_halving"},
      {{"reduce", "rabenseifner"}, "doubling_gather"},
      {{"alltoall", "linear"}, "direct"},
      {{"broadcast", "pipeline"}, "chain"},
      {{"parameter_server", "push_pull"}, "dedicated"},
      {{"parameter_server", "parameter_server"}, "dedicated"},
      {{"parameter_server", "ps"}, "dedicated"},
      {{"parameter_server", "chunked"}, "dedicated_keys"},
      {{"parameter_server", "ps_chunk"}, "dedicated_keys"},
      {{"parameter_server", "co_located"}, "colocated"},
      {{"parameter_server", "ps_colocated"}, "colocated"}};
  const auto found = known.find({std::string(operation), std::string(name)});
  return found == known.end() ? std::string(name) : found->second;
}

bool mpi_counts_shares(std::string_view operation) {
  return operation == "allgather" || operation == "gather" || operation == "scatter" || operation == "alltoall";
}

}}  // namespace farandole::calibration
