// A page as a value: an answer, sections, tables, and what its charts are drawn from.
//
// Made by the writers of this room from results, written as HTML and Markdown (pages.hpp). Texts are plain; the writers
// escape them. Charts are named: page/*.js draws the chart of that name from `data`, where `key` says which part is the
// chart's own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/record.hpp"
#include "report/table.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace report {

struct Cell {
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(std::string shown, double sorted_as) : text(std::move(shown)), number(sorted_as) {}

  std::string text;
  std::optional<double> number;  // what the column is sorted by; else the text
};

struct Grid {
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  bool folded = false;  // opened by the reader however short it is
};

struct Chart {
  std::string kind;     // "curves", "bars", "shares", "waterfall", "what_if", "timeline", "scatter", "steps"
  std::string key;      // the member of Page::data that it draws
  std::string caption;  // says what is seen, and the unit
};

struct PageSection {
  std::string id;
  std::string heading;
  std::vector<std::string> text{};
  std::vector<Chart> charts{};
  std::string picture{};  // an SVG document, drawn by another program
  std::vector<Grid> grids{};
  std::string link{};  // a page beside this one, by its file's name; in the contents too
  std::string verbatim{};
  bool folded = false;  // opened by the reader: what the answer can be understood without; written after the others
};

struct Page {
  std::string kicker;               // above the answer: which run this is
  std::vector<std::string> answer;  // the first sentence is the heading
  std::vector<PageSection> sections;
  Record data = Record::object();
  std::string csv;  // every key of every point; empty: none to download
};

// Times that stand below one another: one unit for all of them, chosen so that the smallest can still be read.
//
// Used by the tables of this room.

struct TimeColumn {
  std::string unit;  // "s", "ms", "us" or "ns"
  double per_second = 1;
  int decimals = 3;

  [[nodiscard]] std::string text(Seconds time) const;
  /// Sorted by the time itself.
  [[nodiscard]] Cell cell(Seconds time) const;
};

/// Four digits of the smallest that is not zero.
TimeColumn time_column(std::span<const Seconds> times);

/// Of iterations: milliseconds, and microseconds where one takes less than a tenth of one.
TimeColumn iteration_column(Seconds shortest);

}}  // namespace farandole::report
