// Rows of torch.nn. Initialisation follows reset_parameters() of each module
// (https://pytorch.org/docs/stable/nn.html, section "Variables" of each).

#include <algorithm>
#include <array>
#include <cmath>

#include "program/reader/module_table.hpp"

namespace kw {
namespace {

using DrawnAs = ElementDistribution::Kind;

ElementDistribution within(double bound) {
  return {DrawnAs::uniform, -bound, bound};
}
ElementDistribution all(double value) {
  return {DrawnAs::constant, value, 0.0};
}

/// kaiming_uniform_(a=sqrt(5)) is uniform within 1 / sqrt(fan_in), and so are the biases.
Result<void> make_weights(ModuleMaker& maker, Shape shape, const Extent& outputs) {
  KW_TRY(const auto fan_in, element_count(Shape(shape.begin() + 1, shape.end())));
  const double bound = fan_in.value() > 0 ? 1.0 / std::sqrt(static_cast<double>(fan_in.value())) : 0.0;
  maker.make({"weight", std::move(shape), within(bound)});
  if (maker.truth("bias")) {
    maker.make({"bias", {outputs}, within(bound)});
  } else {
    maker.leave_out("bias");
  }
  return {};
}

Result<void> make_linear(ModuleMaker& maker) {
  return make_weights(maker, {maker.integer("out_features"), maker.integer("in_features")},
                      maker.integer("out_features"));
}

Result<void> make_bilinear(ModuleMaker& maker) {
  const auto& first = maker.integer("in1_features");
  const double bound = first.value() > 0 ? 1.0 / std::sqrt(static_cast<double>(first.value())) : 0.0;
  maker.make({"weight", {maker.integer("out_features"), first, maker.integer("in2_features")}, within(bound)});
  if (maker.truth("bias")) {
    maker.make({"bias", {maker.integer("out_features")}, within(bound)});
  } else {
    maker.leave_out("bias");
  }
  return {};
}

Result<Extent> per_group(ModuleMaker& maker, std::string_view name) {
  const auto& groups = maker.integer("groups");
  if (groups.value() < 1 || maker.integer(name).value() % groups.value() != 0) {
    return fail(Error{errc::program_value, fmt::format("{} {} is not divided by {} groups", name,
                                                       maker.integer(name).value(), groups.value())});
  }
  return Extent::quotient(maker.integer(name), groups);
}

Result<void> check_padding_mode(const ModuleMaker& maker, std::initializer_list<std::string_view> known) {
  const auto& mode = std::get<std::string>(maker.value("padding_mode"));
  if (std::ranges::count(known, mode) > 0) return {};
  return fail(Error{errc::program_value, fmt::format("padding_mode '{}' of this module is none", mode),
                    fmt::format("write {}", fmt::join(known, ", "))});
}

Result<void> make_convolution(ModuleMaker& maker) {
  KW_TRY_VOID(check_padding_mode(maker, {"zeros", "reflect", "replicate", "circular"}));
  KW_TRY(const auto in, per_group(maker, "in_channels"));
  KW_TRY_VOID(per_group(maker, "out_channels"));
  Shape shape = {maker.integer("out_channels"), in};
  const auto& kernel = maker.integers("kernel_size");
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  return make_weights(maker, std::move(shape), maker.integer("out_channels"));
}

Result<void> make_transposed(ModuleMaker& maker) {
  KW_TRY_VOID(check_padding_mode(maker, {"zeros"}));
  KW_TRY(const auto out, per_group(maker, "out_channels"));
  KW_TRY_VOID(per_group(maker, "in_channels"));
  Shape shape = {maker.integer("in_channels"), out};
  const auto& kernel = maker.integers("kernel_size");
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  return make_weights(maker, std::move(shape), maker.integer("out_channels"));
}

void make_affine(ModuleMaker& maker, const Shape& shape, bool weight, bool bias) {
  if (weight) {
    maker.make({"weight", shape, all(1.0)});
  } else {
    maker.leave_out("weight");
  }
  if (bias) {
    maker.make({"bias", shape, all(0.0)});
  } else {
    maker.leave_out("bias");
  }
}

Result<void> make_running_norm(ModuleMaker& maker) {
  const Shape features = {maker.integer("num_features")};
  make_affine(maker, features, maker.truth("affine"), maker.truth("affine"));
  if (maker.truth("track_running_stats")) {
    maker.make({"running_mean", features, all(0.0), ParameterKind::buffer});
    maker.make({"running_var", features, all(1.0), ParameterKind::buffer});
    maker.make({"num_batches_tracked", {}, all(0.0), ParameterKind::buffer, ElementType::int64});
  } else {
    maker.leave_out("running_mean");
    maker.leave_out("running_var");
  }
  return {};
}

Result<void> make_group_norm(ModuleMaker& maker) {
  const auto groups = maker.integer("num_groups").value();
  if (groups < 1 || maker.integer("num_channels").value() % groups != 0) {
    return fail(Error{errc::program_value, fmt::format("num_channels {} is not divided by {} groups",
                                                       maker.integer("num_channels").value(), groups)});
  }
  make_affine(maker, {maker.integer("num_channels")}, maker.truth("affine"), maker.truth("affine"));
  return {};
}

Result<void> make_layer_norm(ModuleMaker& maker) {
  const bool affine = maker.truth("elementwise_affine");
  make_affine(maker, maker.integers("normalized_shape"), affine, affine && maker.truth("bias"));
  return {};
}

Result<void> make_rms_norm(ModuleMaker& maker) {
  if (maker.truth("elementwise_affine")) {
    maker.make({"weight", maker.integers("normalized_shape"), all(1.0)});
  } else {
    maker.leave_out("weight");
  }
  return {};
}

Result<void> make_embedding(ModuleMaker& maker) {
  maker.make(
      {"weight", {maker.integer("num_embeddings"), maker.integer("embedding_dim")}, {DrawnAs::normal, 0.0, 1.0}});
  return {};
}

Result<void> make_prelu(ModuleMaker& maker) {
  maker.make({"weight", {maker.integer("num_parameters")}, all(maker.real("init"))});
  return {};
}

constexpr std::string_view k_running =
    "int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, bool track_running_stats=True";
constexpr std::string_view k_instance =
    "int num_features, float eps=1e-05, float momentum=0.1, bool affine=False, bool track_running_stats=False";
constexpr std::string_view k_activation = "bool inplace=False";
constexpr std::string_view k_dropout = "float p=0.5, bool inplace=False";
constexpr std::string_view k_reduced = "bool? size_average=None, bool? reduce=None, str reduction='mean'";

constexpr std::array k_module_rows = {
    ModuleRow{"Linear", "int in_features, int out_features, bool bias=True", "linear", make_linear},
    ModuleRow{"Bilinear", "int in1_features, int in2_features, int out_features, bool bias=True", "bilinear",
              make_bilinear},
    ModuleRow{"Conv1d",
              "int in_channels, int out_channels, int[1] kernel_size, int[1] stride=1, padding[1] padding=0, int[1] "
              "dilation=1, int groups=1, bool bias=True, str padding_mode='zeros'",
              "conv1d", make_convolution},
    ModuleRow{"Conv2d",
              "int in_channels, int out_channels, int[2] kernel_size, int[2] stride=1, padding[2] padding=0, int[2] "
              "dilation=1, int groups=1, bool bias=True, str padding_mode='zeros'",
              "conv2d", make_convolution},
    ModuleRow{"Conv3d",
              "int in_channels, int out_channels, int[3] kernel_size, int[3] stride=1, padding[3] padding=0, int[3] "
              "dilation=1, int groups=1, bool bias=True, str padding_mode='zeros'",
              "conv3d", make_convolution},
    ModuleRow{"ConvTranspose1d",
              "int in_channels, int out_channels, int[1] kernel_size, int[1] stride=1, int[1] padding=0, int[1] "
              "output_padding=0, int groups=1, bool bias=True, int[1] dilation=1, str padding_mode='zeros'",
              "conv_transpose1d", make_transposed},
    ModuleRow{"ConvTranspose2d",
              "int in_channels, int out_channels, int[2] kernel_size, int[2] stride=1, int[2] padding=0, int[2] "
              "output_padding=0, int groups=1, bool bias=True, int[2] dilation=1, str padding_mode='zeros'",
              "conv_transpose2d", make_transposed},
    ModuleRow{"ConvTranspose3d",
              "int in_channels, int out_channels, int[3] kernel_size, int[3] stride=1, int[3] padding=0, int[3] "
              "output_padding=0, int groups=1, bool bias=True, int[3] dilation=1, str padding_mode='zeros'",
              "conv_transpose3d", make_transposed},
    ModuleRow{"MaxPool1d",
              "int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1, bool "
              "return_indices=False, bool ceil_mode=False",
              "max_pool1d"},
    ModuleRow{"MaxPool2d",
              "int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1, bool "
              "return_indices=False, bool ceil_mode=False",
              "max_pool2d"},
    ModuleRow{"MaxPool3d",
              "int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, bool "
              "return_indices=False, bool ceil_mode=False",
              "max_pool3d"},
    ModuleRow{
        "AvgPool1d",
        "int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True",
        "avg_pool1d"},
    ModuleRow{"AvgPool2d",
              "int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool ceil_mode=False, bool "
              "count_include_pad=True, int? divisor_override=None",
              "avg_pool2d"},
    ModuleRow{"AvgPool3d",
              "int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool ceil_mode=False, bool "
              "count_include_pad=True, int? divisor_override=None",
              "avg_pool3d"},
    ModuleRow{"AdaptiveAvgPool1d", "int[1] output_size", "adaptive_avg_pool1d"},
    ModuleRow{"AdaptiveAvgPool2d", "int[2] output_size", "adaptive_avg_pool2d"},
    ModuleRow{"AdaptiveAvgPool3d", "int[3] output_size", "adaptive_avg_pool3d"},
    ModuleRow{"AdaptiveMaxPool1d", "int[1] output_size, bool return_indices=False", "adaptive_max_pool1d"},
    ModuleRow{"AdaptiveMaxPool2d", "int[2] output_size, bool return_indices=False", "adaptive_max_pool2d"},
    ModuleRow{"AdaptiveMaxPool3d", "int[3] output_size, bool return_indices=False", "adaptive_max_pool3d"},
    ModuleRow{"BatchNorm1d", k_running, "batch_norm1d", make_running_norm},
    ModuleRow{"BatchNorm2d", k_running, "batch_norm2d", make_running_norm},
    ModuleRow{"BatchNorm3d", k_running, "batch_norm3d", make_running_norm},
    ModuleRow{"InstanceNorm1d", k_instance, "instance_norm1d", make_running_norm},
    ModuleRow{"InstanceNorm2d", k_instance, "instance_norm2d", make_running_norm},
    ModuleRow{"InstanceNorm3d", k_instance, "instance_norm3d", make_running_norm},
    ModuleRow{"GroupNorm", "int num_groups, int num_channels, float eps=1e-05, bool affine=True", "group_norm",
              make_group_norm},
    ModuleRow{"LayerNorm", "int[*] normalized_shape, float eps=1e-05, bool elementwise_affine=True, bool bias=True",
              "layer_norm", make_layer_norm},
    ModuleRow{"RMSNorm", "int[*] normalized_shape, float? eps=None, bool elementwise_affine=True", "rms_norm",
              make_rms_norm},
    ModuleRow{"LocalResponseNorm", "int size, float alpha=0.0001, float beta=0.75, float k=1.0", "local_response_norm"},
    ModuleRow{"Embedding", "int num_embeddings, int embedding_dim, int? padding_idx=None", "embedding", make_embedding},
    ModuleRow{"Identity", "", "", nullptr, ModuleKind::identity},
    ModuleRow{"Sequential", "", "", nullptr, ModuleKind::sequential},
    ModuleRow{"ModuleList", "", "", nullptr, ModuleKind::module_list},
    ModuleRow{"ModuleDict", "", "", nullptr, ModuleKind::module_dict},
    ModuleRow{"ParameterList", "", "", nullptr, ModuleKind::parameter_list},
    ModuleRow{"ReLU", k_activation, "relu"},
    ModuleRow{"ReLU6", k_activation, "relu6"},
    ModuleRow{"LeakyReLU", "float negative_slope=0.01, bool inplace=False", "leaky_relu"},
    ModuleRow{"PReLU", "int num_parameters=1, float init=0.25", "prelu", make_prelu},
    ModuleRow{"RReLU", "float lower=0.125, float upper=0.3333333333333333, bool inplace=False", "rrelu"},
    ModuleRow{"ELU", "float alpha=1.0, bool inplace=False", "elu"},
    ModuleRow{"SELU", k_activation, "selu"},
    ModuleRow{"CELU", "float alpha=1.0, bool inplace=False", "celu"},
    ModuleRow{"GELU", "str approximate='none'", "gelu"},
    ModuleRow{"SiLU", k_activation, "silu"},
    ModuleRow{"Mish", k_activation, "mish"},
    ModuleRow{"Sigmoid", "", "sigmoid"},
    ModuleRow{"Tanh", "", "tanh"},
    ModuleRow{"Hardtanh", "float min_val=-1.0, float max_val=1.0, bool inplace=False", "hardtanh"},
    ModuleRow{"Hardswish", k_activation, "hardswish"},
    ModuleRow{"Hardsigmoid", k_activation, "hardsigmoid"},
    ModuleRow{"Softplus", "float beta=1.0, float threshold=20.0", "softplus"},
    ModuleRow{"Softsign", "", "softsign"},
    ModuleRow{"Softshrink", "float lambd=0.5", "softshrink"},
    ModuleRow{"Hardshrink", "float lambd=0.5", "hardshrink"},
    ModuleRow{"Tanhshrink", "", "tanhshrink"},
    ModuleRow{"Threshold", "float threshold, float value, bool inplace=False", "threshold"},
    ModuleRow{"LogSigmoid", "", "logsigmoid"},
    ModuleRow{"GLU", "int dim=-1", "glu"},
    ModuleRow{"Softmax", "int? dim=None", "softmax"},
    ModuleRow{"Softmin", "int? dim=None", "softmin"},
    ModuleRow{"LogSoftmax", "int? dim=None", "log_softmax"},
    ModuleRow{"Dropout", k_dropout, "dropout"},
    ModuleRow{"Dropout1d", k_dropout, "dropout1d"},
    ModuleRow{"Dropout2d", k_dropout, "dropout2d"},
    ModuleRow{"Dropout3d", k_dropout, "dropout3d"},
    ModuleRow{"AlphaDropout", k_dropout, "alpha_dropout"},
    ModuleRow{"Flatten", "int start_dim=1, int end_dim=-1", "flatten"},
    ModuleRow{"Unflatten", "int dim, int[] unflattened_size", "unflatten", nullptr, ModuleKind::plain,
              "unflattened_size:sizes"},
    ModuleRow{"PixelShuffle", "int upscale_factor", "pixel_shuffle"},
    ModuleRow{"PixelUnshuffle", "int downscale_factor", "pixel_unshuffle"},
    ModuleRow{"Upsample", "int[*]? size=None, float? scale_factor=None, str mode='nearest', bool? align_corners=None",
              "interpolate"},
    ModuleRow{"Unfold", "int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1", "unfold"},
    ModuleRow{"ZeroPad2d", "int[4] padding", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"ConstantPad1d", "int[2] padding, float value", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"ConstantPad2d", "int[4] padding, float value", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"ConstantPad3d", "int[6] padding, float value", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"ReflectionPad1d", "int[2] padding, str mode='reflect'", "pad", nullptr, ModuleKind::plain,
              "padding:pad"},
    ModuleRow{"ReflectionPad2d", "int[4] padding, str mode='reflect'", "pad", nullptr, ModuleKind::plain,
              "padding:pad"},
    ModuleRow{"ReflectionPad3d", "int[6] padding, str mode='reflect'", "pad", nullptr, ModuleKind::plain,
              "padding:pad"},
    ModuleRow{"ReplicationPad1d", "int[2] padding, str mode='replicate'", "pad", nullptr, ModuleKind::plain,
              "padding:pad"},
    ModuleRow{"ReplicationPad2d", "int[4] padding, str mode='replicate'", "pad", nullptr, ModuleKind::plain,
              "padding:pad"},
    ModuleRow{"ReplicationPad3d", "int[6] padding, str mode='replicate'", "pad", nullptr, ModuleKind::plain,
              "padding:pad"},
    ModuleRow{"CircularPad1d", "int[2] padding, str mode='circular'", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"CircularPad2d", "int[4] padding, str mode='circular'", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"CircularPad3d", "int[6] padding, str mode='circular'", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"ZeroPad1d", "int[2] padding", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"ZeroPad3d", "int[6] padding", "pad", nullptr, ModuleKind::plain, "padding:pad"},
    ModuleRow{"CosineSimilarity", "int dim=1, float eps=1e-08", "cosine_similarity"},
    ModuleRow{"PairwiseDistance", "float p=2.0, float eps=1e-06, bool keepdim=False", "pairwise_distance"},
    ModuleRow{"MSELoss", k_reduced, "mse_loss"},
    ModuleRow{"L1Loss", k_reduced, "l1_loss"},
    ModuleRow{"SmoothL1Loss", "bool? size_average=None, bool? reduce=None, str reduction='mean', float beta=1.0",
              "smooth_l1_loss"},
    ModuleRow{"HuberLoss", "str reduction='mean', float delta=1.0", "huber_loss"},
    ModuleRow{"KLDivLoss", "bool? size_average=None, bool? reduce=None, str reduction='mean', bool log_target=False",
              "kl_div"},
    ModuleRow{"SoftMarginLoss", k_reduced, "soft_margin_loss"},
    ModuleRow{"PoissonNLLLoss",
              "bool log_input=True, bool full=False, bool? size_average=None, float eps=1e-08, bool? reduce=None, str "
              "reduction='mean'",
              "poisson_nll_loss"},
    ModuleRow{"GaussianNLLLoss", "bool full=False, float eps=1e-06, str reduction='mean'", "gaussian_nll_loss"},
    ModuleRow{"HingeEmbeddingLoss",
              "float margin=1.0, bool? size_average=None, bool? reduce=None, str reduction='mean'",
              "hinge_embedding_loss"},
    ModuleRow{"BCELoss", "Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean'",
              "binary_cross_entropy"},
    ModuleRow{"BCEWithLogitsLoss",
              "Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? "
              "pos_weight=None",
              "binary_cross_entropy_with_logits"},
    ModuleRow{"CrossEntropyLoss",
              "Tensor? weight=None, bool? size_average=None, int ignore_index=-100, bool? reduce=None, str "
              "reduction='mean', float label_smoothing=0.0",
              "cross_entropy"},
    ModuleRow{
        "NLLLoss",
        "Tensor? weight=None, bool? size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean'",
        "nll_loss"},
    ModuleRow{"MarginRankingLoss", "float margin=0.0, bool? size_average=None, bool? reduce=None, str reduction='mean'",
              "margin_ranking_loss"},
    ModuleRow{"CosineEmbeddingLoss",
              "float margin=0.0, bool? size_average=None, bool? reduce=None, str reduction='mean'",
              "cosine_embedding_loss"},
    ModuleRow{"TripletMarginLoss",
              "float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, bool? size_average=None, bool? "
              "reduce=None, str reduction='mean'",
              "triplet_margin_loss"},
};

struct RefusedModule {
  std::string_view name;
  std::string_view instead;
};
constexpr std::array k_refused_modules = {
    RefusedModule{"CTCLoss", "leave the loss out: it is a recursion over paths that is not read"},
    RefusedModule{"FractionalMaxPool2d", "nn.MaxPool2d: this one draws its windows by chance"},
    RefusedModule{"FractionalMaxPool3d", "nn.MaxPool3d: this one draws its windows by chance"},
    RefusedModule{"MaxUnpool1d", "gather what is needed: it scatters to places that only the data say"},
    RefusedModule{"MaxUnpool2d", "gather what is needed: it scatters to places that only the data say"},
    RefusedModule{"MaxUnpool3d", "gather what is needed: it scatters to places that only the data say"},
};

}  // namespace

const ArgumentValue& ModuleMaker::value(std::string_view name) const {
  const auto found =
      std::find_if(arguments_.begin(), arguments_.end(), [&](const auto& one) { return one.name == name; });
  KW_CHECK(found != arguments_.end(), "the constructor has no argument {}", name);
  return found->value;
}

std::span<const ModuleRow> module_rows() {
  return k_module_rows;
}

const ModuleRow* find_module_row(std::string_view name) {
  const auto rows = module_rows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::string_view instead_of_module(std::string_view name) {
  for (const auto& row : k_refused_modules) {
    if (row.name == name) return row.instead;
  }
  return {};
}

}  // namespace kw
