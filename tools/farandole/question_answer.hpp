// The answer of a question's command, in the forms in which it is printed: text, JSON, and a page.
//
// Called by network, tune, diagnose, compare, place and cost. The text is the headline, the tables and lines of notes
// after "#"; the page has the same sentences, tables and notes, and one or two charts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output_options.hpp"
#include "page_options.hpp"
#include "report/page.hpp"
#include "report/record.hpp"
#include "scenario/scenario.hpp"
#include "timeline/explanation.hpp"

namespace farandole {

struct QuestionAnswer {
  std::string name;                   // of the command, and of its schema: NAME_answer
  std::string scenario;               // its name
  std::vector<std::string> headline;  // sentences
  std::vector<Grid> grids;
  std::vector<std::string> notes;
  std::vector<std::string> options;  // "best: --set ...": what gives a row of a table by hand
  std::optional<Chart> chart{};      // of page data `drawn`
  Record drawn{};
  Record record;
  std::optional<Chart> second_chart{};
  Record second_drawn{};
};

/// The options that set them: "--set /platform/ranks=4 --set ...".
std::string set_options(const std::vector<SetValue>& set);

/// Lets it run at most 10 iterations and one to warm up: a question runs its scenario many times, and what settings
/// change shows in few. What it set, as --set takes it.
std::vector<SetValue> take_few_iterations(Document& scenario, const Measure& measure);

/// Values of a scenario by their pointers, for JSON.
Record set_record(const std::vector<SetValue>& set);

/// Refuses, before anything runs, what no such answer is written as.
void check_forms(const OutputOptions& output, const PageOptions& pages);

void write_question_answer(const QuestionAnswer& answer, const OutputOptions& output, const PageOptions& pages);

}  // namespace farandole
