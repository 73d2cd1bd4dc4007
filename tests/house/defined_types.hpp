// The types that a C++ file defines, by their qualified names, as a reader finds them: scope by scope, without a
// compiler.
//
// Left out is what no other file can mean: types in an unnamed namespace or in a function, and types without a name. So
// are declarations, parameters of templates, and aliases. A specialisation of a template is a type of its own:
// "std::hash<A>".
#pragma once

#include <string>
#include <vector>

namespace house {

struct DefinedType {
  std::string name;       // "farandole::collective::Schedule"
  std::size_t index = 0;  // of its line, from 0
};

/// `code`: lines without comments and literals (code_lines_of).
std::vector<DefinedType> types_defined_in(const std::vector<std::string>& code);

}  // namespace house
