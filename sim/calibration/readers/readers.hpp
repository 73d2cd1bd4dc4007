// What readers of measured files share: the forms there are, lines of text, names of operations, points of any form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/measured_time.hpp"
#include "calibration/read_measurements.hpp"
#include "config/document.hpp"
#include "config/error.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace calibration {

// The forms of measured files, one reader each; `measured_forms` (calibration/read_measurements.hpp) is their table.
//
// A `recognises` looks only for what marks the form and may be wrong about the rest of the text; a `read` throws
// InputError with the line where the text is not what its marks promise. Readers leave empty what the text does not
// say.

bool is_points_json(std::string_view text);
/// {"points": [{op, algorithm, ranks, bytes, seconds, servers?, nodes?, ...}]}; other keys are left to others, but for
/// "library", which says which library the points mean that say "library".
std::vector<MeasuredTime> read_points_json(const MeasuredText& file);

bool is_points_by_line(std::string_view text);
/// One point per line, as an object; also with the keys of the loopback laboratory's first form (algo, k, nranks,
/// hosts, seconds_median, min, max, cpu_busy, ok).
std::vector<MeasuredTime> read_points_by_line(const MeasuredText& file);

bool is_nccl_tests_json(std::string_view text);
/// What nccl-tests writes with -J; the out-of-place times.
std::vector<MeasuredTime> read_nccl_tests_json(const MeasuredText& file);

bool is_nccl_tests_text(std::string_view text);
/// What nccl-tests prints; the out-of-place times. The ranks are the "#  Rank" lines, the nodes their hosts. Which
/// collective it was is only in the text of newer versions.
std::vector<MeasuredTime> read_nccl_tests_text(const MeasuredText& file);

bool is_osu(std::string_view text);
/// osu_latency, osu_allreduce, osu_allgather, ... of the OSU micro-benchmarks; how many ranks, they do not say.
std::vector<MeasuredTime> read_osu(const MeasuredText& file);

bool is_imb(std::string_view text);
/// IMB-MPI1: PingPong and the collectives; t_max where there is one, since a collective is as slow as its slowest rank.
std::vector<MeasuredTime> read_imb(const MeasuredText& file);

// A text, line by line and word by word, with errors that say which line.
//
// For the readers of benchmark output, which is text for people: words between blanks, numbers among them.

struct TextLine {
  int number = 0;  // from 1
  std::string_view text;
  std::vector<std::string_view> words;
};

/// All lines that are not blank, without their labels.
std::vector<TextLine> lines_of(std::string_view text);

/// Cells between commas outside of quotes, without quotes and blanks around them.
std::vector<std::string> cells_of(std::string_view line);

/// "node001:", which pdsh puts in front of every line of a table; empty unless all have the same.
std::string_view host_label(std::string_view text);
/// Without it and what else launchers and loggers put there: timestamps, "[1,0]<stdout>:", "[0] ", "0: ".
std::string_view without_labels(std::string_view line, std::string_view host);

/// The number a word is, if it is one to its end and finite.
std::optional<double> number_in(std::string_view word);

/// The largest size anyone measures; what is above is a slip of the pen.
inline constexpr double most_bytes = 0x1p44;

/// The word as a size, whole and at most `most_bytes`; InputError with the line otherwise.
double size_at(const std::string& file, const TextLine& line, std::size_t word);

/// The same of a number of a JSON document: some tools write sizes with a point.
Bytes read_size(const Value& value);

/// The word as a number that is not negative; InputError with the line otherwise. `what` is "a size in bytes", ...
double number_at(const std::string& file, const TextLine& line, std::size_t word, std::string_view what);

/// Nothing that anyone measures takes less or longer; fits and predictions stay finite.
inline constexpr double shortest_time = 1e-12;  // seconds
inline constexpr double longest_time = 1e8;
inline constexpr const char* measurable_time = "a time from 1 ps to 3 years";
inline bool is_measurable(double seconds) {
  return seconds >= shortest_time && seconds <= longest_time;
}

/// The word as a time in `unit` seconds; InputError with the line otherwise.
Seconds time_at(const std::string& file, const TextLine& line, std::size_t word, double unit = 1e-6);

[[noreturn]] void refuse_line(const std::string& file, int line, std::string_view expected, std::string_view got);

/// The whole number after `label` in the line ("# #processes = 4"), if the label is there.
std::optional<int> number_after(std::string_view line, std::string_view label);

// What other benchmarks call the operations.

/// The operation that "all_reduce", "Allreduce", "bcast", "All-to-All Personalized Exchange", "PingPong", ... is, as
/// Farandole spells it; nothing for a name of none.
std::optional<std::string> operation_called(std::string_view name);

/// The algorithm of an operation that other benchmarks call "rabenseifner", "linear", ..., as Farandole spells it;
/// unknown names stay as they are.
std::string algorithm_called(std::string_view operation, std::string_view name);

/// Whether the MPI benchmarks count one rank's share of the size: of an alltoall, what goes to one other.
bool mpi_counts_shares(std::string_view operation);

// A measured point as a JSON object; both JSON forms of our own are made of them.

/// Reads {op, algorithm, ranks, bytes, seconds, servers?, nodes?} and the laboratory's spellings of the same; keys that
/// mean nothing here are left alone. Fails at the key that is missing or wrong.
MeasuredTime read_point(const Value& value, const std::string& family);

}}  // namespace farandole::calibration
