// The answer to a study's question: the points with the one value beside those with the other.
//
// Used by report/answer.hpp. Two points are a pair where their sweep put the same everywhere but where the question
// asks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "timeline/question.hpp"

namespace farandole {

struct ComparedPair {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// In the order of the points; of the most ranks only.
std::vector<ComparedPair> compared_pairs(std::span<const TrainingPoint> points, const Question& question);

/// A sentence on the first pair, and one on the pairs that change most and least, by the size of the change: a loss is
/// called one, and less than half a percentage point is no change. Empty where there is no pair.
std::vector<std::string> answer_to(std::span<const TrainingPoint> points, const Question& question);

}  // namespace farandole
