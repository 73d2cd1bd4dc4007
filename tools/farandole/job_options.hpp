// What the options of a launcher and its program, or the keys of a configuration that say the same, say of a job:
// `farandole new`.
#pragma once

#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/launch_line.hpp"

namespace farandole {

/// Options by their names without dashes, "-" for "_"; each is taken once.
class JobOptions {
 public:
  /// Of `--launch`.
  explicit JobOptions(const std::vector<std::pair<std::string, std::string>>& options);
  /// Of a file, to be added; `names`: what its keys are called, by the options that say the same.
  JobOptions(std::string file, std::map<std::string, std::string> names)
      : all_(std::move(file)), names_(std::move(names)) {}
  void add(const std::string& name, const std::string& value, const std::string& where) {
    options_.push_back({name, value, "", where});
  }

  /// The first of them that is there; empty for an option without a value.
  std::optional<std::string> take(std::initializer_list<const char*> names);
  /// Of at least `least`, else InputError; `otherwise` where none is there.
  int take_number(std::initializer_list<const char*> names, int otherwise, int least = 1,
                  int most = std::numeric_limits<int>::max());
  /// `--name`, `--name True`; not `--name False`.
  bool take_flag(const char* name);
  /// All whose names begin so, as members of a JSON object.
  nlohmann::ordered_json take_all(const std::string& prefix);
  /// "--training.seq_len 4096" as ("/training/seq_len", "4096").
  std::vector<std::pair<std::string, std::string>> take_dotted();

  [[nodiscard]] bool has(const std::string& name) const;
  /// What an error blames for the first of them that is there, or for all: "farandole: --launch: --seq-length".
  [[nodiscard]] std::string where(std::initializer_list<const char*> names) const;
  /// What it is called where it would be said: "--seq-length", "model.encoder_seq_length".
  [[nodiscard]] std::string spelled(const std::string& name) const;
  [[noreturn]] void refuse(std::initializer_list<const char*> names, const std::string& expected,
                           const std::string& got) const;
  /// But for what was taken where it stood before, and files that were read for the number of ranks, without dashes.
  [[nodiscard]] std::vector<std::string> left() const;

 private:
  struct Named {
    std::string name;
    std::string value;
    std::string text;
    std::string where;
    bool is_taken = false;
  };

  Named* find(std::initializer_list<const char*> names);

  std::vector<Named> options_;
  std::string all_ = "farandole: --launch";
  std::map<std::string, std::string> names_;
};

}  // namespace farandole
