// Results as files to open: pages, pictures, Markdown.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/platform.hpp"
#include "report/heading.hpp"
#include "report/page.hpp"
#include "timeline/difference.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace report {

// The points of `farandole run` as a page.
//
// Called by the command line for `--html` and `--markdown`. Sections without content are left out.

/// Published runs beside their predictions, on this platform or, where there are none, on all.
struct ValidationContext {
  bool of_this_platform = false;
  std::vector<ValidationPoint> points;
};

struct TrainingPageInput {
  Heading heading;
  std::string summary;                // the scenario's own words
  std::string command;                // as it was typed
  std::string scenario;               // its JSON, with what the command line set
  std::vector<TrainingPoint> points;  // the headline points with explanations
  std::optional<Question> question;
  std::vector<PublishedMark> published;
  ValidationContext trust;
  const Timeline* timeline = nullptr;  // of one rank; or null
  std::size_t timeline_point = 0;
  std::vector<LinkUse> busiest_links;  // of that point
  std::string topology_svg;            // with the loads of that point; or empty
};

/// std::logic_error where a point holds a number that is not finite.
Page training_page(const TrainingPageInput& story);

// Writes a page as one HTML file that needs nothing else: style, scripts and D3 are in it.
//
// Called by the command line for `--html`. Light and dark, on a phone and in print; every number stands in a table
// beside its chart. Errors: std::runtime_error where the program was built without D3 (page/assets.hpp).

void write_html(std::ostream& out, const Page& page);

/// Throws as write_html would, before the work is done that a page is to show.
void require_page_parts();

// The page of `farandole explore`: settings to turn, and the simulator that answers them, compiled to WebAssembly
// (tools/explore), in one file.
//
// Called by the command line. Its numbers are those of the program where both were built from the same sources; the
// page compares `expected` when it starts, and says so where they differ.

struct ExplorePage {
  std::string kicker;
  std::string note;  // what is simulated, in a sentence or two
  /// "scenario", "source", "folder" and "files" (by path, in the simulator's memory), "controls" (id, label,
  /// is_ordered, values with text and set, at), "ranks" of the curve, "expected" keys of the first point.
  Record data = Record::object();
};

void write_explore_page(std::ostream& out, const ExplorePage& page);

/// std::runtime_error where write_explore_page would fail: without D3, or without the compiled simulator.
void require_simulator();

// The points of `farandole collective` as a page: bandwidth and time over size, the busiest links, the table.
//
// Called by the command line for `--html` and `--markdown`.

struct CollectiveStory {
  Heading heading;
  std::string topology;
  std::string command;
  std::vector<CollectivePoint> points;
  ValidationContext trust;   // published tables of this topology; without points where there are none
  std::string topology_svg;  // with the loads of the last point; or empty
};

/// std::logic_error where a point holds a number that is not finite.
Page collective_page(const CollectiveStory& story);

// The points of `farandole validate` as a page: predicted against measured, errors by size, and every row.
//
// Called by the command line for `--html` and `--markdown`.

Page validation_page(const Heading& heading, const std::string& command, std::span<const ValidationPoint> points,
                     const RatioPairs& ratios = {});

// A platform drawn for people, as a text that Graphviz draws: nodes below, switches above, edges by their load.
//
// Called by `farandole show topology --format svg` and by runs that draw where their bytes went. What is too many to be
// seen is drawn together: the nodes of a switch as one box, switches by the first part of their names or by their
// level, with their number; cables between two boxes are one line, which says how many there are and their rate. With
// loads a line has the colour of the busiest link in it, from green to red, and its share of the time in percent.

/// `loads`: the share of its capacity that each link of the platform uses, or empty.
void write_topology_picture(std::ostream& out, const Platform& platform, std::span<const double> loads = {});

// A platform as a file for other programs: a Graphviz graph of everything, and a platform of SimGrid.
//
// Called by `farandole show topology --format dot|simgrid`. The graph has a vertex for every node and every switch and
// an edge for every NIC and every cable, with rates and latencies exact to the last digit; the kind "graph" reads it
// back. SimGrid gets hosts for devices and the route of every pair, so O(devices^2); of a route with several paths the
// first.

void write_topology_dot(std::ostream& out, const Platform& platform);

/// Version 4.1 of SimGrid's DTD, routing "Full". For a simulation with no latency or bandwidth factors of its own.
void write_topology_simgrid(std::ostream& out, const Platform& platform);

// Writes a page as Markdown: the answer and the tables, for an issue, a wiki or a paper's notes.
//
// Called by the command line for `--markdown`. GitHub's tables; what would mean something to Markdown is escaped.

void write_markdown(std::ostream& out, const Page& page);

// Writes a Timeline as Trace Event JSON, as Horovod's timeline looks: chrome://tracing and Perfetto open it.
//
// Called by the command line for `--timeline` with the timeline of one rank. Each lane (a tensor) is a "process" with
// its own pid, numbered from 1 in order of first appearance; the lane "" (the whole process) is pid 0. Spans are
// complete events ("X"), instants are "i": global on pid 0 (CYCLE_START), else on their process; an instant whose
// activity is a number is a rank that reported ready, and has that rank in its args. Spans of one lane that overlap
// without nesting go to further threads (tid) of it, as viewers can only stack what nests. Times are microseconds with
// three decimals. Format: "Trace Event Format", Google, and horovod/common/timeline.cc.

/// Always a complete JSON document, even for an empty timeline. `otherData` says how many events were dropped.
void write_chrome_trace(std::ostream& out, const Timeline& timeline, const Heading& heading);

}}  // namespace farandole::report
