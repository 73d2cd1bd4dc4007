// Refuses options that a sweep would silently replace.
//
// `--set`, `--launch` and `--seed` change the scenario before a sweep puts its values there, so what they say about a
// swept value would be lost. The rule: no value from the command line is ever replaced, be it the swept value itself,
// a part of it, or a part of the object around it. Called by scenario/sweep.hpp for "sweep" and by study/search for
// "over".
#pragma once

#include "config/document.hpp"

namespace farandole {

/// `sweep` is the object whose keys are pointers, "zip" and "variants"; `document` is what it changes.
void refuse_what_is_swept(const Document& document, const Value& sweep);

}  // namespace farandole
