// What a run says, in sentences: how well it scales, what holds it back, what would help, and what the study asked.
//
// Called by training_page.cpp. Every number in them is one of a result point, rounded.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/record.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace report {

/// How the note of a point begins whose efficiency is above 100 %, before its reason.
inline constexpr std::string_view beyond_linear = "faster than linear scaling";

/// The points a reader looks at first, in order: those of the most ranks; of more than four the best and the worst by
/// efficiency, and the first pair that a question compares.
std::vector<std::size_t> headline_points(std::span<const TrainingPoint> points,
                                         const std::optional<Question>& question);

/// The point whose loss and remedies the answer names: what the question starts from, else the worst of the headlines.
std::size_t explained_point(std::span<const TrainingPoint> points, const std::optional<Question>& question);

/// The first sentence says where estimated compute times are compared with measured ones; then follow the answer to the
/// question, how a numeric problem learns, what runs cost, how well the headline points scale, and why where that is
/// above 100 %; what holds the worst of them back and what would help where it is explained.
std::vector<std::string> answer(std::span<const TrainingPoint> points, const std::optional<Question>& question);

// The answer to a study's question: the points with the one value beside those with the other.
//
// Used by report/answer.hpp. Two points are a pair where their sweep put the same everywhere but where the question
// asks.

struct ComparedPair {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// In the order of the points; of the most ranks only.
std::vector<ComparedPair> compared_pairs(std::span<const TrainingPoint> points, const Question& question);

/// A sentence on the first pair, with P(faster) where points have bands, and one on the pairs that change
/// most and least, by the size of the change: a loss is called one, and less than half a percentage point is no change.
/// Of points of several fidelities those of the most exact one. Empty where there is no pair.
std::vector<std::string> answer_to(std::span<const TrainingPoint> points, const Question& question);

/// For JSON: the question, the sentences that answer it and every pair, as two places in the list of points with the
/// fields of timeline/difference.hpp where points have bands. Null where nothing was asked.
Record answered(const std::optional<Question>& question, std::span<const TrainingPoint> points);

/// Where the compute times of points come from: measured on the device, or estimated from its peak rate:
/// "Compares estimated (dgx-h100) with measured (dgx-a100) compute times: ..."; empty where all are of one kind.
std::string mixed_compute_sentence(std::span<const TrainingPoint> points);

/// "Compute times are estimated (35 % of 19.5 TFLOP/s), not measured."; empty unless all are estimated.
std::string estimated_compute_sentence(std::span<const TrainingPoint> points);

}}  // namespace farandole::report
