#include "question_answer.hpp"

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/table.hpp"

namespace farandole {
namespace {

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : " ") + sentence;
  return text;
}

void write_grid(std::ostream& out, const Grid& grid) {
  Table table(grid.columns);
  for (const std::vector<Cell>& row : grid.rows) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(cell.text);
    table.row(std::move(cells));
  }
  table.write(out);
}

void write_answer_text(std::ostream& out, const QuestionAnswer& answer) {
  out << joined(answer.headline) << "\n\n";
  for (const Grid& grid : answer.grids) {
    write_grid(out, grid);
    out << "\n";
  }
  for (const auto& lines : {answer.notes, answer.options}) {
    for (const std::string& line : lines) out << "# " << line << "\n";
  }
}

Page page_of(const QuestionAnswer& answer) {
  Page page;
  page.kicker = "farandole " + answer.name + ": " + answer.scenario;
  page.answer = answer.headline;
  PageSection section{"answer", "The answer in numbers"};
  for (const auto& [chart, drawn] :
       {std::pair(&answer.chart, &answer.drawn), std::pair(&answer.second_chart, &answer.second_drawn)}) {
    if (!*chart) continue;
    section.charts.push_back(**chart);
    page.data[(*chart)->key] = *drawn;
  }
  section.grids = answer.grids;
  page.sections.push_back(std::move(section));
  PageSection how{"how", "How it was worked out"};
  how.text = answer.notes;
  for (const std::string& option : answer.options) how.verbatim += option + "\n";
  page.sections.push_back(std::move(how));
  return page;
}

}  // namespace

std::vector<SetValue> take_few_iterations(Document& scenario, const Measure& measure) {
  constexpr int most_iterations = 10;
  constexpr int most_warmup = 1;
  const int iterations = std::min(measure.iterations, most_iterations);
  const int warmup = std::min(measure.warmup, most_warmup);
  std::vector<SetValue> set;
  if (!scenario.find("/measure")) {
    set.push_back({"/measure", fmt::format("{{\"iterations\": {}, \"warmup\": {}}}", iterations, warmup)});
  } else {
    if (iterations != measure.iterations) set.push_back({"/measure/iterations", std::to_string(iterations)});
    if (warmup != measure.warmup) set.push_back({"/measure/warmup", std::to_string(warmup)});
  }
  for (const SetValue& value : set) scenario.set(value.pointer, value.json);
  return set;
}

std::string set_options(const std::vector<SetValue>& set) {
  std::string options;
  for (const SetValue& value : set)
    options += (options.empty() ? "" : " ") + ("--set " + shell_word(value.pointer + "=" + value.json));
  return options;
}

Record set_record(const std::vector<SetValue>& set) {
  Record record = Record::object();
  for (const SetValue& value : set) record[value.pointer] = Record::parse(value.json);
  return record;
}

void check_forms(const OutputOptions& output, const PageOptions& pages) {
  if (output.chosen_format() == Format::csv) refuse_option("--format", "table or json", output.format);
  pages.check();
}

void write_question_answer(const QuestionAnswer& answer, const OutputOptions& output, const PageOptions& pages) {
  output.write([&](std::ostream& out) {
    if (output.chosen_format() != Format::json) return write_answer_text(out, answer);
    Record record{{"$schema", "urn:farandole:schema:0.1:" + answer.name + "_answer"},
                  {"answer", joined(answer.headline)}};
    record.update(answer.record);
    out << json_text(record, 2) << "\n";
  });
  if (pages.are_wanted()) pages.write(page_of(answer));
}

}  // namespace farandole
