// The numbers of a topology file that measurements can settle, and the file with other values in their place.
//
// A trial keeps the topology as a document, so that what is fitted is exactly what can be written into a file and read
// back: `host_rate` of a link (what the host adds to the wire, per byte; the wire's own rate is never touched, so no
// fit can exceed it), latencies per message, the launch of a collective, the rate of summing up, the window of sends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "platform/topology.hpp"

namespace farandole {

enum class ParameterKind : std::uint8_t {
  time,          // seconds
  size,          // bytes
  time_per_byte  // written as the rate that is its inverse; left out of the file where it is zero
};

struct Parameter {
  std::string name;     // what tables call it
  std::string pointer;  // into the topology file
  ParameterKind kind;
};

/// What the value behind a pointer into a topology file is.
ParameterKind kind_of(const std::string& pointer);

/// Every parameter that this topology file has a place for, in a fixed order.
std::vector<Parameter> parameters_of(const Document& topology);

/// In SI: seconds, bytes, or seconds per byte; zero where the file leaves it out.
double value_in(const Document& topology, const Parameter& parameter);

/// The document with the parameter at that value.
Document with(const Document& topology, const Parameter& parameter, double value);
Document with(const Document& topology, std::span<const Parameter> parameters, std::span<const double> values);

/// "12.5 us" or "4.76 GB/s"; "none" for a rate that costs nothing.
std::string shown(const Parameter& parameter, double value);

}  // namespace farandole
