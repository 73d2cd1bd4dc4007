#include "plan_messages.hpp"

#include <iostream>

#include "report/table.hpp"

namespace farandole {

void say_what_is_noted(const RunPlan& plan) {
  for (const std::string& ignored : plan.ignored)
    std::cerr << "ignored, no meaning here: " << printable(ignored) << "\n";
  for (const std::string& note : plan.notes) std::cerr << "note: " << printable(note) << "\n";
}

}  // namespace farandole
