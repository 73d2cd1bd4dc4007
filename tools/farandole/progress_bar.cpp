#include "progress_bar.hpp"

#include <iostream>
#include <string>

#include <fmt/format.h>

namespace farandole {
namespace {

constexpr int bar_width = 30;

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

void ProgressBar::show(int done, int all) {
  const auto now = Clock::now();
  if (before_ < 0) before_ = done - 1;
  if (done < all && now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = elapsed / (done - before_) * (all - done);
  const int filled = done * bar_width / all;
  std::cerr << fmt::format("\r[{:#>{}}{: >{}}] {} of {} points, {} left ", "", filled, "", bar_width - filled, done,
                           all, clock_text(left))
            << std::flush;
}

void ProgressBar::clear() {
  std::cerr << "\r\033[K" << std::flush;
}

}  // namespace farandole
