// Tables as Keras prints them, against the models of this repository and against sums by hand.
#include <map>
#include <sstream>

#include <gmock/gmock.h>

#include "config/error.hpp"
#include "workload/files.hpp"
#include "workload/importers/imported_model.hpp"

namespace farandole::keras_summary_test { namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The network of Horovod's Keras example, as Keras 2 prints it; names in the second column are cut short.
constexpr const char* mnist = R"(Model: "sequential"
_________________________________________________________________
Layer (type)                 Output Shape              Param #   
=================================================================
conv2d (Conv2D)              (None, 26, 26, 32)        320       
_________________________________________________________________
conv2d_1 (Conv2D)            (None, 24, 24, 64)        18496     
_________________________________________________________________
max_pooling2d (MaxPooling2D) (None, 12, 12, 64)        0         
_________________________________________________________________
dropout (Dropout)            (None, 12, 12, 64)        0         
_________________________________________________________________
flatten (Flatten)            (None, 9216)              0         
_________________________________________________________________
dense (Dense)                (None, 128)               1179776   
_________________________________________________________________
dropout_1 (Dropout)          (None, 128)               0         
_________________________________________________________________
dense_1 (Dense)              (None, 10)                1290      
=================================================================
Total params: 1,199,882
Trainable params: 1,199,882
Non-trainable params: 0
_________________________________________________________________
)";

// A residual block as newer versions of Keras 2 print it: cells go on in the next line.
constexpr const char* residual = R"(Model: "model"
__________________________________________________________________________________________________
 Layer (type)                   Output Shape         Param #     Connected to                     
==================================================================================================
 input_1 (InputLayer)           [(None, 56, 56, 64)  0           []                               
                                ]                                                                 
                                                                                                  
 block1_1_conv (Conv2D)         (None, 56, 56, 64)   36928       ['input_1[0][0]']                
                                                                                                  
 block1_1_bn (BatchNormalizatio  (None, 56, 56, 64)  256         ['block1_1_conv[0][0]']          
 n)                                                                                               
                                                                                                  
 block1_1_relu (Activation)     (None, 56, 56, 64)   0           ['block1_1_bn[0][0]']            
                                                                                                  
 block1_depthwise (DepthwiseCon  (None, 56, 56, 64)  576         ['block1_1_relu[0][0]']          
 v2D)                                                                                             
                                                                                                  
 block1_add (Add)               (None, 56, 56, 64)   0           ['input_1[0][0]',                
                                                                  'block1_depthwise[0][0]']       
                                                                                                  
==================================================================================================
Total params: 37,760
Trainable params: 37,632
Non-trainable params: 128
__________________________________________________________________________________________________
)";

// Keras 3 draws boxes.
constexpr const char* boxes = R"(Model: "sequential"
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━┓
┃ Layer (type)                         ┃ Output Shape                ┃         Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━┩
│ embedding (Embedding)                │ (None, 80, 128)             │       2,560,000 │
├──────────────────────────────────────┼─────────────────────────────┼─────────────────┤
│ lstm (LSTM)                          │ (None, 128)                 │         131,584 │
├──────────────────────────────────────┼─────────────────────────────┼─────────────────┤
│ dense (Dense)                        │ (None, 1)                   │             129 │
└──────────────────────────────────────┴─────────────────────────────┴─────────────────┘
 Total params: 2,691,713 (10.27 MB)
 Trainable params: 2,691,713 (10.27 MB)
 Non-trainable params: 0 (0.00 B)
)";

/// Read, written, and read again as the program reads workload files.
Model imported(const std::string& text, const Extents& input = {}) {
  std::ostringstream file;
  write_model(read_keras_summary(text, "net.txt", input), "model.schema.json", file);
  const auto document = Document::parse(file.str(), "net.json");
  return read_model(document.root(), "net.json").variants.front();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::vector<std::int64_t> tensor_sizes(const Model& model) {
  std::vector<std::int64_t> sizes;
  for (const Layer& layer : model.layers) {
    for (const Tensor& tensor : layer.tensors) sizes.push_back(tensor.elements());
  }
  return sizes;
}

std::map<std::string, Layer> by_name(const Model& model) {
  std::map<std::string, Layer> layers;
  for (const Layer& layer : model.layers) layers[layer.name] = layer;
  return layers;
}

TEST(KerasSummary, GivesTheTensorsAndTheWorkOfTheSameNetworkInModels) {
  const Model ours = test::model("mnist_cnn", "horovod_keras");
  const Model keras = imported(mnist, {28, 28, 1});
  EXPECT_EQ(tensor_sizes(keras), tensor_sizes(ours));
  EXPECT_EQ(keras.macs(), ours.macs());
  EXPECT_EQ(keras.layers.size(), 7U);  // activations are within their layers, flattening moves nothing
}

TEST(KerasSummary, FollowsConnectionsAndCellsThatGoOnInTheNextLine) {
  auto layers = by_name(imported(residual));
  EXPECT_EQ(layers.at("block1_add").input_elements, 2 * 56 * 56 * 64);
  EXPECT_EQ(layers.at("block1_1_conv").macs, 9.0 * 64 * 64 * 56 * 56);
  EXPECT_EQ(layers.at("block1_1_bn").type, "batch_norm2d");
  EXPECT_EQ(layers.at("block1_1_bn").parameters(), 2 * 64);  // its mean and variance are not trained
  EXPECT_EQ(layers.at("block1_depthwise").macs, 9.0 * 64 * 56 * 56);
  EXPECT_EQ(layers.at("block1_depthwise").tensors.size(), 1U);
}

TEST(KerasSummary, ReadsTheBoxesOfKeras3AndRecurrentLayers) {
  const Model model = imported(boxes);
  // 20,000 words of 128; four gates of 128 units: a matrix for the input, one for the state, a bias; and the last
  // layer.
  EXPECT_THAT(tensor_sizes(model), ElementsAre(20'000 * 128, 4 * 128 * 128, 4 * 128 * 128, 4 * 128, 128, 1));
  EXPECT_EQ(by_name(model).at("lstm").macs, 80.0 * 4 * 128 * (128 + 128));
}

TEST(KerasSummary, KnowsClassesThatTheColumnCutShort) {
  const Model whole = imported(mnist, {28, 28, 1});
  const Model cut =
      imported(replaced(mnist, "max_pooling2d (MaxPooling2D)", "max_pooling2d_4 (MaxPooling2"), {28, 28, 1});
  EXPECT_EQ(cut.layers.at(2).type, "max_pool2d");
  EXPECT_EQ(cut.layers.at(2).name, "max_pooling2d_4");
  EXPECT_EQ(cut.parameters(), whole.parameters());
}

// Narrow columns of Keras 3 end in an ellipsis.
constexpr const char* narrow = R"(
┃ Layer (type)        ┃ Output Shape      ┃    Param # ┃ Connected to      ┃
│ input (InputLayer)  │ (None, 8, 8, 4)   │          0 │ -                 │
│ first_bn            │ (None, 8, 8, 4)   │         16 │ input[0][0]       │
│ (BatchNormalizatio… │                   │            │                   │
│ second_bn           │ (None, 8, 8, 4)   │         16 │ first_bn[0][0]    │
│ (BatchNormalizatio… │                   │            │                   │
)";

auto reading(const std::string& text, const Extents& input = {28, 28, 1}) {
  return [=] { read_keras_summary(text, "net.txt", input); };
}

TEST(KerasSummary, ReadsNarrowColumnsUnlessWhatTheyCutIsNeeded) {
  EXPECT_THAT(tensor_sizes(imported(narrow)), ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(reading(replaced(narrow, "first_bn[0][0] ", "first_bn[0][…  ")),
              ThrowsMessage<InputError>(AllOf(HasSubstr("net.txt:6: "), HasSubstr("line_length=150"))));
  EXPECT_THAT(reading(replaced(narrow, "first_bn[0][0] ", "other_bn[0][0] ")),
              ThrowsMessage<InputError>(HasSubstr("a connection to a row above, got \"other_bn\"")));
  EXPECT_THAT(reading(replaced(narrow, "(BatchNormalizatio…", "(C…                ")),
              ThrowsMessage<InputError>(HasSubstr("got \"C\" with 16 parameters; summary(line_length=150)")));
}

TEST(KerasSummary, AsksForTheInputThatSequentialModelsDoNotPrint) {
  EXPECT_THAT(reading(mnist, {}), ThrowsMessage<InputError>(AllOf(HasSubstr("net.txt:5: "), HasSubstr("--input"))));
}

TEST(KerasSummary, RefusesParametersThatTheClassCannotHave) {
  EXPECT_THAT(reading(replaced(mnist, "18496", "18497")), ThrowsMessage<InputError>(HasSubstr("net.txt:7: ")));
  EXPECT_THAT(reading(replaced(mnist, "1290 ", "1291 ")), ThrowsMessage<InputError>(HasSubstr("net.txt:19: ")));
  EXPECT_THAT(reading(replaced(mnist, "(Dropout)          (None, 128)               0",
                               "(Curious)          (None, 128)               7")),
              ThrowsMessage<InputError>(HasSubstr("\"Curious\" with 7 parameters")));
}

TEST(KerasSummary, HoldsTheTotalsOfTheTableAgainstItsRows) {
  EXPECT_THAT(reading(replaced(mnist, "Total params: 1,199,882", "Total params: 1,199,883")),
              ThrowsMessage<InputError>(HasSubstr("sum to the total of 1199883 parameters, got 1199882")));
  EXPECT_THAT(reading(replaced(mnist, "Trainable params: 1,199,882", "Trainable params: 1,290")),
              ThrowsMessage<InputError>(HasSubstr("frozen layers cannot be told")));
}

TEST(KerasSummary, RefusesOpenShapesAndWhatIsNoTable) {
  EXPECT_THAT(reading(replaced(mnist, "(None, 24, 24, 64)  ", "(None, None, 24, 64)")),
              ThrowsMessage<InputError>(AllOf(HasSubstr("net.txt:7: "), HasSubstr("whole output shape"))));
  EXPECT_THAT(reading(replaced(mnist, "(None, 128)               1179776", "multiple                  1179776")),
              ThrowsMessage<InputError>(HasSubstr("net.txt:15: ")));
  EXPECT_THAT(reading("hello\n"), ThrowsMessage<InputError>(HasSubstr("net.txt: expected what Keras prints")));
}

// Columns are as many letters wide, not bytes.
TEST(KerasSummary, KnowsNamesInAllAlphabets) {
  const Model model =
      imported(replaced(mnist, "dense_1 (Dense)              ", "größe_äöüäöüäöüäöüä (Dense)  "), {28, 28, 1});
  EXPECT_EQ(by_name(model).at("größe_äöüäöüäöüäöüä").parameters(), 1290);
}

TEST(KerasSummary, RefusesNumbersBeyondAllModels) {
  const auto refused = [](const std::string& from, const std::string& to, const std::string& message) {
    EXPECT_THAT(reading(replaced(mnist, from, to)), ThrowsMessage<InputError>(HasSubstr(message)));
  };
  refused("18496", "99999999999999999999", "net.txt:7: expected at most 2^40 parameters, got \"99999999999999999999\"");
  refused("18496", "9223372036854775807", "net.txt:7: expected at most 2^40 parameters");
  refused("(None, 24, 24, 64)  ", "(None, 4000000, 4000000)", "net.txt:7: expected a shape of at most 2^40 values");
  refused("(None, 24, 24, 64)  ", "(None, 1, 1099511627776)", "net.txt:7: expected the parameters of a kernel");
  EXPECT_THAT(reading(mnist, {4294967296, 4294967296}),
              ThrowsMessage<InputError>(HasSubstr("an input of at most 2^40")));
}

// 2^20 x 2^20 positions, 2^7 multiply-adds each, three times over: each factor is possible, the product is not.
TEST(KerasSummary, RefusesMoreMultiplyAddsThanADoubleCounts) {
  constexpr const char* wide = R"(
Layer (type)                 Output Shape                Param #
input (InputLayer)           (None, 1048576, 524288, 2)  0
conv (Conv2D)                (None, 1048576, 524288, 2)  65536
)";
  EXPECT_THAT(reading(wide), ThrowsMessage<InputError>(HasSubstr("net.txt:4: expected at most 2^53 multiply-adds")));
}

}}  // namespace farandole::keras_summary_test
