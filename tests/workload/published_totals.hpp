// What publications say of the models in models/: parameters, multiply-adds of a pass forward and trainable tensors.
//
// Multiply-adds are published of the convolutional networks alone; of transformers they are what the shapes say
// (tests/workload/model_files_test.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farandole::test {

struct PublishedTotals {
  std::string model;
  std::string variant;
  std::int64_t parameters;
  double macs;
  int tensors;
};

inline std::vector<PublishedTotals> totals_of_convolutional_networks() {
  return {
      // torchvision 0.14.1, and tf_cnn_benchmarks with 1001 classes.
      {"resnet18", "torchvision", 11'689'512, 1'814'073'344, 62},
      {"resnet34", "torchvision", 21'797'672, 3'663'761'408, 110},
      {"resnet50", "torchvision", 25'557'032, 4'089'184'256, 161},
      {"resnet50", "tf_cnn_benchmarks", 25'559'081, 3'857'975'296, 161},
      {"resnet101", "torchvision", 44'549'160, 7'801'405'440, 314},
      {"resnet101", "tf_cnn_benchmarks", 44'551'209, 7'570'196'480, 314},
      {"resnet152", "torchvision", 60'192'808, 11'513'626'624, 467},
      {"resnet152", "tf_cnn_benchmarks", 60'194'857, 11'282'417'664, 467},
      {"vgg11", "torchvision", 132'863'336, 7'609'090'048, 22},
      {"vgg11", "tf_cnn_benchmarks", 132'867'433, 7'609'094'144, 22},
      {"vgg16", "torchvision", 138'357'544, 15'470'264'320, 32},
      {"vgg16", "tf_cnn_benchmarks", 138'361'641, 15'470'268'416, 32},
      {"vgg19", "torchvision", 143'667'240, 19'632'062'464, 38},
      {"vgg19", "tf_cnn_benchmarks", 143'671'337, 19'632'066'560, 38},
      {"inception_v3", "torchvision", 27'161'264, 5'718'899'296, 292},
      {"inception_v3", "tf_cnn_benchmarks", 23'819'401, 5'713'218'144, 190},
      {"alexnet", "torchvision", 61'100'840, 714'188'480, 16},
      {"alexnet", "tf_cnn_benchmarks", 61'104'937, 714'192'576, 16},
      {"densenet121", "torchvision", 7'978'856, 2'834'161'664, 364},
      {"mobilenet_v2", "torchvision", 3'504'872, 300'774'272, 158},
      {"resnext101_32x4d", "torchvision", 44'177'704, 7'969'996'800, 314},
      {"mnist_mlp", "lecun1998", 238'510, 238'200, 4},
      {"mnist_mlp", "keras", 101'770, 101'632, 4},
      {"mnist_cnn", "horovod_pytorch", 21'840, 480'500, 8},
      {"mnist_cnn", "horovod_keras", 1'199'882, 11'992'448, 8},
      {"linear_regression", "notebook", 4, 4, 1},
      {"softmax_regression", "linear", 170, 160, 2},
  };
}

inline std::vector<PublishedTotals> totals_of_mpt() {
  return {
      // "parameters" of mosaicml/llm-foundry@8c8dd48f7216, scripts/train/benchmarking/README.md, at both lengths.
      {"mpt_125m", "seq2048", 125'311'488, 291'822'895'104, 148},
      {"mpt_125m", "seq512", 124'131'840, 65'707'966'464, 148},
      {"mpt_13b", "seq2048", 12'853'954'560, 27'156'943'994'880, 484},
      {"mpt_13b", "seq512", 12'846'090'240, 6'628'174'725'120, 484},
      {"mpt_1b", "seq2048", 1'315'950'592, 2'891'318'296'576, 292},
      {"mpt_1b", "seq512", 1'312'804'864, 684'174'868'480, 292},
      {"mpt_30b", "seq2048", 29'975'214'080, 62'793'092'956'160, 580},
      {"mpt_30b", "seq512", 29'964'204'032, 15'427'690'299'392, 580},
      {"mpt_350m", "seq2048", 355'985'408, 827'183'857'664, 292},
      {"mpt_350m", "seq512", 354'412'544, 187'468'611'584, 292},
      {"mpt_3b", "seq2048", 2'651'837'440, 5'761'631'518'720, 388},
      {"mpt_3b", "seq512", 2'647'905'280, 1'375'983'370'240, 388},
      {"mpt_70b", "seq2048", 64'862'437'376, 135'535'209'218'048, 964},
      {"mpt_70b", "seq512", 64'849'854'464, 33'368'406'228'992, 964},
      {"mpt_760m", "seq2048", 760'470'528, 1'704'632'254'464, 292},
      {"mpt_760m", "seq512", 758'111'232, 397'167'034'368, 292},
      {"mpt_7b", "seq2048", 6'658'859'008, 14'166'412'754'944, 388},
      {"mpt_7b", "seq512", 6'652'567'552, 3'438'523'973'632, 388},
  };
}

inline std::vector<PublishedTotals> totals_of_language_models() {
  return {
      // The published checkpoints with both heads of pre-training: BertForPreTraining of huggingface/transformers.
      {"bert_base", "seq128", 110'106'428, 11'654'831'616, 206},
      {"bert_base", "seq512", 110'106'428, 50'241'431'040, 206},
      {"bert_large", "seq128", 336'226'108, 40'107'124'736, 398},
      {"bert_large", "seq512", 336'226'108, 170'089'023'488, 398},
      // openai/gpt-2, as huggingface/transformers counts GPT2LMHeadModel (124M, 355M, 774M, 1.5B; the paper's 117M and
      // 345M were a slip, says its README).
      {"gpt2_large", "seq1024", 774'030'080, 838'966'968'320, 436},
      {"gpt2_medium", "seq1024", 354'823'168, 387'705'733'120, 292},
      {"gpt2_small", "seq1024", 124'439'808, 136'160'477'184, 148},
      {"gpt2_xl", "seq1024", 1'557'611'200, 1'672'821'145'600, 580},
      // LlamaForCausalLM of huggingface/transformers; 6.7, 13, 34 and 69 billion in Touvron et al., table 1.
      {"llama2_13b", "seq4096", 13'015'864'320, 56'076'166'758'400, 363},
      {"llama2_34b", "seq4096", 33'743'970'304, 143'735'375'527'936, 435},
      {"llama2_70b", "seq4096", 68'976'648'192, 292'444'323'184'640, 723},
      {"llama2_7b", "seq4096", 6'738'415'616, 29'261'612'187'648, 291},
      {"llama3_70b", "seq8192", 70'553'706'496, 613'338'509'737'984, 723},
      {"mixtral_8x7b", "seq4096", 46'702'792'704, 54'417'235'640'320, 323},
      {"llama3_8b", "seq8192", 8'030'261'248, 70'274'254'897'152, 291},
      // As huggingface/transformers counts them (tests/workload/data/huggingface_configs.json).
      {"llama3_2_1b", "seq8192", 1'235'814'400, 12'322'261'172'224, 146},
      {"llama3_2_3b", "seq8192", 3'212'749'824, 32'089'848'152'064, 254},
      {"mistral_7b", "seq4096", 7'241'732'096, 31'323'196'489'728, 291},
      {"qwen2_5_7b", "seq4096", 7'615'616'512, 30'643'517'915'136, 339},
      // InternLMForCausalLM of internlm/internlm-7b.
      {"internlm_7b", "seq2048", 7'321'948'160, 14'678'050'734'080, 419},
      // google-t5: T5ForConditionalGeneration of huggingface/transformers (220M, 770M, 3B, 11B in Raffel et al.).
      {"t5_11b", "seq512", 11'307'321'344, 3'794'884'362'240, 509},
      {"t5_3b", "seq512", 2'851'598'336, 951'533'961'216, 509},
      {"t5_base", "seq512", 222'903'552, 70'990'700'544, 257},
      {"t5_large", "seq512", 737'668'096, 240'696'360'960, 509},
  };
}

inline std::vector<PublishedTotals> totals_of_vision_and_science() {
  return {
      // num_params and the GFLOPS of torchvision 0.14.1's weights: 17.564 and 61.555.
      {"vit_b_16", "torchvision", 86'567'656, 17'563'828'224, 152},
      {"vit_l_16", "torchvision", 304'326'632, 61'554'712'576, 296},
      // num_params of torchvision 0.14.1's weights.
      {"efficientnet_b0", "torchvision", 5'288'548, 385'814'752, 213},
      {"efficientnet_b4", "torchvision", 19'341'616, 4'393'771'024, 418},
      // num_params of torchvision 0.14.1's weights.
      {"ssd300_vgg16", "torchvision", 35'641'826, 34'858'153'472, 71},
      // What the references of mlcommons/hpc and mlcommons/training build.
      {"cosmoflow", "mlperf_hpc", 5'597'604, 10'204'750'080, 16},
      {"deepcam", "mlperf_hpc", 56'454'720, 327'668'833'280, 301},
      {"unet3d", "mlperf_training", 31'190'243, 477'298'688'000, 78},
  };
}

inline std::vector<PublishedTotals> published_totals() {
  std::vector<PublishedTotals> all = totals_of_convolutional_networks();
  for (const auto& more : {totals_of_mpt(), totals_of_language_models(), totals_of_vision_and_science()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace farandole::test
