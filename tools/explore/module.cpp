// What JavaScript sees of the simulator: one function. The files that scenarios name are in memory, under /data.
#include <emscripten/emscripten.h>

#include "config/data_folder.hpp"
#include "core.hpp"

namespace farandole {

/// There is no program here, and nothing beside it.
std::filesystem::path config::own_folder() {
  return {};
}

}  // namespace farandole

extern "C" EMSCRIPTEN_KEEPALIVE const char* farandole_answer(const char* question) {
  static const farandole::Catalogue catalogue("/data");
  static std::string answer;
  answer = farandole::answer_question(question, catalogue);
  return answer.c_str();
}
