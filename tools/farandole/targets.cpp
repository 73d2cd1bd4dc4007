#include "targets.hpp"

#include <system_error>

#include "command.hpp"
#include "report/output_file.hpp"

namespace farandole {
namespace {

namespace fs = std::filesystem;

/// Devices and pipes may be read and written by anyone: nothing is lost of what stands in them.
bool keeps_something(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

/// One file by two names too: behind links, or twice in its folder.
bool are_one(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  // Absolute first: what is not there yet stays relative otherwise, and "x" is not "./x".
  const fs::path first = fs::absolute(a, error);
  if (error) return false;
  const fs::path second = fs::absolute(b, error);
  if (error) return false;
  return fs::weakly_canonical(first, error) == fs::weakly_canonical(second, error) && !error;
}

}  // namespace

void Targets::reads(const std::string& what, const fs::path& file) {
  inputs_.push_back({what, file});
}

void Targets::writes(const std::string& option, const std::string& file) {
  if (!file.empty()) outputs_.push_back({option, file});
}

void Targets::check() const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto& [option, file] = outputs_[i];
    if (keeps_something(file)) {
      for (const auto& [what, input] : inputs_) {
        if (are_one(file, input)) refuse_option(option, "another file than " + what, file.string());
      }
      for (std::size_t other = 0; other < i; ++other) {
        if (are_one(file, outputs_[other].file)) {
          refuse_option(option, "another file than that of " + outputs_[other].name, file.string());
        }
      }
    }
    try_file(file);
  }
}

void require_free(const std::string& setting, const fs::path& file, bool (*is_ours)(const fs::path& file),
                  const std::string& hint) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::is_regular_file(status) || is_ours(file)) return;
  refuse_option(setting, "a file that is not there yet", file.string(), hint);
}

}  // namespace farandole
