// The forms of measured files, one reader each; `measured_forms` (calibration/read_measurements.hpp) is their table.
//
// A `recognises` looks only for what marks the form and may be wrong about the rest of the text; a `read` throws
// InputError with the line where the text is not what its marks promise. Readers leave empty what the text does not
// say.
#pragma once

#include <string_view>
#include <vector>

#include "calibration/read_measurements.hpp"

namespace farandole {

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

}  // namespace farandole
