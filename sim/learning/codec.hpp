// What is left of a gradient that was sent in fewer bits: encoded by its rank, decoded by the others.
//
// The kinds and their sizes on the wire are those of training/compression.hpp; here is what they do to the numbers.
//
//   int8      every element rounded to a multiple of the largest magnitude / 127
//   top_k     the share `keep` of the elements with the largest magnitudes, at least one; the others become zero
//   one_bit   elements that are not negative become their mean, negative ones theirs (Seide et al., 2014)
//
// fp16 and bf16 are no codecs of this kind: there the sums themselves are short (learning/exchange.hpp).
#pragma once

#include "learning/problem.hpp"
#include "training/compression.hpp"

namespace farandole {

/// The vector itself where the kind is none of the above.
Vector sent_and_decoded(const CompressionSettings& compression, const Vector& values);

}  // namespace farandole
