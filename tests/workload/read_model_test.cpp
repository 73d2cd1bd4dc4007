#include <gmock/gmock.h>

#include "config/error.hpp"
#include "workload/model.hpp"

namespace farandole::read_model_test { namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Two layers: 3 x 4 = 12 weights and 4 biases, 12 multiply-adds.
Document tiny() {
  return Document::parse(R"({
    "name": "tiny", "summary": "Two layers.",
    "variants": [{
      "name": "only", "summary": "s", "source": "here", "input": [3], "parameters": 16, "tensors": 2, "macs": 12,
      "layers": [
        {"name": "fc", "type": "linear", "macs": 12, "input": [3], "output": [4],
         "tensors": [{"name": "fc.weight", "shape": [4, 3]}, {"name": "fc.bias", "shape": [4]}]},
        {"name": "relu", "type": "relu", "input": [2, 2], "output": [4], "comment": "no weights"}
      ]
    }]
  })",
                         "tiny.json");
}

ModelSummary read_tiny() {
  const auto document = tiny();
  return read_model(document.root(), "tiny.json");
}

/// Reads the tiny model with one value replaced.
auto reading_with(const std::string& pointer, const std::string& text) {
  return [=] {
    auto document = tiny();
    document.set(pointer, text);
    read_model(document.root(), "tiny.json");
  };
}

TEST(ReadModel, TakesNamesShapesAndWorkAsWritten) {
  const ModelSummary summary = read_tiny();
  EXPECT_EQ(summary.name, "tiny");
  EXPECT_EQ(summary.summary, "Two layers.");
  const Model& model = summary.variants.at(0);
  EXPECT_EQ(model.name, "tiny");
  EXPECT_EQ(model.variant, "only");
  EXPECT_EQ(model.parameters(), 16);
  EXPECT_EQ(model.tensors(), 2);
  EXPECT_EQ(model.macs(), 12);
  EXPECT_EQ(model.layers.at(0).input_elements, 3);
  EXPECT_EQ(model.layers.at(1).input_elements, 4);
  EXPECT_EQ(model.layers.at(1).parameters(), 0);
}

TEST(ReadModel, RefusesAVariantWhoseTensorsDoNotSumToItsParameters) {
  EXPECT_THAT(reading_with("/variants/0/parameters", "17"),
              ThrowsMessage<InputError>(
                  HasSubstr("/variants/0/parameters: expected the parameters of all layers, 16, got 17")));
}

TEST(ReadModel, RefusesTotalsOfTensorsAndMultiplyAddsThatDoNotMatch) {
  EXPECT_THAT(reading_with("/variants/0/tensors", "3"),
              ThrowsMessage<InputError>(HasSubstr("expected the tensors of all layers, 2, got 3")));
  EXPECT_THAT(reading_with("/variants/0/macs", "13"),
              ThrowsMessage<InputError>(HasSubstr("expected the multiply-adds of all layers, 12, got 13")));
}

TEST(ReadModel, RefusesAnInputThatIsNotThatOfTheFirstLayer) {
  EXPECT_THAT(reading_with("/variants/0/input", "[5]"),
              ThrowsMessage<InputError>(HasSubstr("/variants/0/input: expected the input of the first layer")));
}

TEST(ReadModel, RefusesNamesUsedTwice) {
  EXPECT_THAT(reading_with("/variants/0/layers/1/name", "fc"),
              ThrowsMessage<InputError>(HasSubstr("expected a name that no other layer has, got \"fc\"")));
  EXPECT_THAT(reading_with("/variants/0/layers/0/tensors/1/name", "fc.weight"),
              ThrowsMessage<InputError>(HasSubstr("expected a name that no other tensor has")));
}

TEST(ReadModel, RefusesEmptyNamesShapesLayersAndVariants) {
  EXPECT_THAT(reading_with("/variants/0/layers/1/name", "\"\""), ThrowsMessage<InputError>(HasSubstr("a name")));
  EXPECT_THAT(reading_with("/variants/0/layers/1/input", "[]"),
              ThrowsMessage<InputError>(HasSubstr("a shape such as")));
  EXPECT_THAT(reading_with("/variants/0/layers", "[]"), ThrowsMessage<InputError>(HasSubstr("at least one layer")));
  EXPECT_THAT(reading_with("/variants", "[]"), ThrowsMessage<InputError>(HasSubstr("at least one variant")));
}

TEST(ReadModel, RefusesExtentsAndCountsThatAreNone) {
  EXPECT_THAT(reading_with("/variants/0/layers/1/input", "[0]"),
              ThrowsMessage<InputError>(HasSubstr("an integer of at least 1")));
  EXPECT_THAT(reading_with("/variants/0/layers/1/input", "[2.0]"), ThrowsMessage<InputError>(HasSubstr("an integer")));
  EXPECT_THAT(reading_with("/variants/0/layers/1/macs", "-1"),
              ThrowsMessage<InputError>(HasSubstr("a count from 0 to 2^53")));
}

TEST(ReadModel, RefusesShapesTooLargeToCount) {
  EXPECT_THAT(reading_with("/variants/0/layers/0/tensors/0/shape", "[2000000000, 2000000000, 2000000000]"),
              ThrowsMessage<InputError>(HasSubstr("at most 2^40 elements")));
}

TEST(ReadModel, NamesThePlaceOfAKeyItDoesNotKnow) {
  EXPECT_THAT(reading_with("/variants/0/layers/1/shap", "[1]"),
              ThrowsMessage<InputError>(AllOf(HasSubstr("/variants/0/layers/1/shap"), HasSubstr("a known key"))));
}

}}  // namespace farandole::read_model_test
