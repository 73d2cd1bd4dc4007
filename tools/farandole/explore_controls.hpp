// What a reader of the page of `farandole explore` may turn: ranks, network, batch, fusion, algorithm, precision,
// stragglers, and whatever the scenario sweeps.
//
// Called by explore_command.cpp. A setting's place is among values that the simulator accepts where everything else is
// as in the scenario; several changed together may still be refused, which the page then says in the program's words.
#pragma once

#include <string>
#include <vector>

#include "report/record.hpp"
#include "scenario/run.hpp"

namespace farandole {

/// One value of a control, and what it puts into the scenario: by JSON pointer, null for what it takes out.
struct ControlValue {
  std::string text;
  Record set = Record::object();
};

struct Control {
  std::string id;
  std::string label;
  bool is_ordered = true;  // a slider; else a list to choose from
  std::vector<ControlValue> values;
  std::size_t at = 0;  // the scenario's own
};

/// `written` with its sweep, `base` the one configuration that the page begins with. Controls that would have one value
/// are left out.
std::vector<Control> controls_of(const Document& written, const PlannedPoint& base, const Catalogue& catalogue);

/// `document` with what a value puts into it; parents that are missing are made.
void apply(const ControlValue& value, Document& document);

}  // namespace farandole
