// A result that breaks a law of nature or of counting: a bug of ours, never of the input.
#pragma once

#include <stdexcept>
#include <string>

namespace farandole { inline namespace simulate {

/// Ends the run with exit status 1.
class InvariantError : public std::logic_error {
 public:
  explicit InvariantError(const std::string& message) : std::logic_error("invariant broken: " + message) {}
};

}}  // namespace farandole::simulate
