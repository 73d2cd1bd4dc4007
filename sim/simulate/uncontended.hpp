// A routed schedule as if every transfer had its way for itself: what contention costs is the difference.
#pragma once

#include <optional>

#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

/// Every leg on links of its own with the same capacities; nothing where receivers move from repeat to repeat, whose
/// legs are not all known beforehand.
std::optional<RoutedSchedule> uncontended(const RoutedSchedule& routed);

}}  // namespace farandole::simulate
