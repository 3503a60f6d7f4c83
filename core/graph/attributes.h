#pragma once

// Longer than 150 lines: one list of attributes.

#include "core/graph/axes.h"
#include "core/tensor/relative_rows.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::graph {

// The attributes of each operation. An operation without attributes has std::monostate.

/// A tensor of a checkpoint.
struct Parameter {
    /// The order of the numbers in the file.
    enum class Layout : std::uint8_t {
        as_used,    ///< the axes of the node
        transposed, ///< (d_out, d_in), as torch.nn.Linear stores a matrix
        row         ///< (1, n) for a vector
    };
    /// The part that this parameter has of a tensor that holds several parameters, along the innermost axis
    /// after `layout` was applied: `count` numbers from `first` on, then again `stride` numbers further,
    /// `blocks` times.
    struct Columns {
        std::int64_t first = 0, count = 0, blocks = 1, stride = 0;
        bool operator==(const Columns&) const = default;
    };
    std::string tensor; ///< its name in the file, "{e}" for the number of an expert; empty: there is no file
    Layout layout = Layout::as_used;
    std::optional<Columns> columns = {};
    double offset = 0; ///< added to every number: Gemma stores the weights of its norms minus 1
    bool operator==(const Parameter&) const = default;
};

/// Numbers that a run is given.
struct Input {
    enum class Kind : std::uint8_t {
        numbers,
        ids,  ///< whole numbers: rows of a table
        flags ///< 0 or 1
    };
    Kind kind = Kind::numbers;
    bool operator==(const Input&) const = default;
};

/// Numbers that belong to the graph, such as rotary tables. Compared by identity.
struct Constant {
    TensorPtr values; ///< the shape is the node's
    bool operator==(const Constant&) const = default;
};

struct Embedding {
    double factor = 1; ///< multiplies the rows of the table
    bool operator==(const Embedding&) const = default;
};

struct Linear {
    bool transposed = false;    ///< the weight has axes (d_out, d_in), as word tables do
    double limit = 0;           ///< the result is clipped to [-limit, limit]; 0: it is not
    std::string tokens = {};    ///< another name for the token axis of the result: keys are "Tk"; empty: no
    bool paper_symbols = false; ///< the formula has the symbols of the paper: Q = X W_Q + b_Q
    bool operator==(const Linear&) const = default;
};

/// Attributes of scale and soft_cap.
struct Scale {
    std::int64_t root_of = 0; ///< divides by its square root: the width dk of a head; 0: no division
    double factor = 1;        ///< multiplies
    double cap = 0;           ///< soft_cap: cap tanh(number / cap)
    bool operator==(const Scale&) const = default;
};

/// Attributes of rms_norm, layer_norm, head_norm and joint_norm.
struct Norm {
    double eps = 1e-5;     ///< added to the mean square; > 0
    bool centered = false; ///< head_norm: subtracts the mean first, as LayerNorm does
    bool operator==(const Norm&) const = default;
};

/// The mean square of a row counts as `least` where it is smaller.
struct Magnitude {
    double least = 1e-5;
    bool operator==(const Magnitude&) const = default;
};

/// Term p of the sum is multiplied by `offset` plus coefficient first + p of the token.
struct Mix {
    std::int64_t first = 0;
    double offset = 0;
    bool operator==(const Mix&) const = default;
};

/// Rotary position embedding of the numbers [first, first + width) of a head.
struct Rotation {
    enum class Pairs : std::uint8_t {
        halves,   ///< numbers c and c + width/2 rotate together
        neighbors ///< numbers 2c and 2c + 1
    };
    Pairs pairs = Pairs::halves;
    std::int64_t first = 0, width = 0; ///< even; 0: the whole head
    bool operator==(const Rotation&) const = default;
};

/// The keys that a query may attend to. Query i has position p = i + (Tk - Tq) among the keys and may attend
/// to the keys from p - before to p + after, of the chunk of p: keys of chunk n have the positions from
/// n chunk on, and as many. Inputs follow the scores in the order of the flags.
struct Mask {
    std::optional<std::int64_t> before = {}, after = {}, chunk = {}; ///< absent: no limit
    bool adds = false;   ///< an input is added to the scores; minus infinity excludes a key
    bool allows = false; ///< an input has 1 where a query may attend to a key
    bool limits_positions() const { return before || after || chunk; }
    bool operator==(const Mask&) const = default;
};

struct Softmax {
    bool empty_rows = false; ///< a row may be minus infinity throughout; its result is 0
    bool sink = false;       ///< the last input, (H), takes part in each row of its head like one more key
    bool operator==(const Softmax&) const = default;
};

/// The bias m_h times the place of the key (Press et al. 2022, "Train Short, Test Long").
struct Alibi {
    std::vector<float> slopes; ///< one per head
    bool bfloat16 = false;     ///< slopes and products are rounded to bfloat16
    double divisor = 1;        ///< divides the products: a bias that is added before the scale of the scores
    bool operator==(const Alibi&) const = default;
};

/// A learned bias for each head and bucket of distances (Raffel et al. 2020, section 2.1).
struct DistanceBias {
    std::int64_t queries = 0, keys = 0; ///< Tq and Tk
    std::int64_t furthest = 128;        ///< distances from here on share the last bucket
    bool both_sides = false;            ///< half of the buckets are for keys after the query
    bool operator==(const DistanceBias&) const = default;
};

/// The terms of a score by content and position: those of queries, "c2p", or those of keys, "p2c" (He et al.
/// 2021, "DeBERTa", equation 4).
struct RelativeProduct {
    bool of_keys = false;
    RelativeRows rows;
    bool operator==(const RelativeProduct&) const = default;
};

enum class Function : std::uint8_t {
    gelu,       ///< x Phi(x)
    gelu_tanh,  ///< its approximation by tanh
    gelu_quick, ///< x sigmoid(1.702 x)
    relu,
    relu6, ///< relu, at most 6
    relu_square,
    leaky_relu, ///< 0.01 x below 0
    silu,       ///< x sigmoid(x)
    mish,       ///< x tanh(ln(1 + exp(x)))
    tanh,
    sigmoid,
    identity
};
inline constexpr int function_count = static_cast<int>(Function::identity) + 1;

struct Activation {
    Function function = Function::gelu;
    bool operator==(const Activation&) const = default;
};

/// The cutoff of a row is its mean plus so many standard deviations: of normally distributed numbers a known
/// fraction is below it.
struct GaussianTopK {
    double deviations = 0;
    bool operator==(const GaussianTopK&) const = default;
};

/// function(gate) times the other input.
struct Gate {
    Function function = Function::silu;
    /// The gate is at most `limit` and the other input within [-limit, limit] (OpenAI 2025, gpt-oss); 0: no
    /// limits.
    double limit = 0;
    double offset = 0; ///< added to the other input
    bool operator==(const Gate&) const = default;
};

/// The choice of experts for a token, and their fractions. With groups of equally many consecutive experts,
/// only those of the best groups can be chosen (DeepSeek-AI 2024, V2, section 2.2.2). A second input,
/// (experts), is added to the scores for the choice of groups and experts, not for the fractions (DeepSeek-AI
/// 2024, V3, section 2.1.2).
struct Route {
    enum class Score : std::uint8_t {
        softmax_of_chosen, ///< softmax over the numbers of the chosen experts
        softmax,           ///< softmax over all experts, then the choice
        sigmoid            ///< applied to each number, then the choice
    };
    std::int64_t used = 1; ///< experts per token
    Score score = Score::softmax_of_chosen;
    bool sum_to_one = false; ///< the fractions of the chosen experts are divided by their sum
    double factor = 1;       ///< multiplies the fractions
    std::int64_t groups = 1, used_groups = 1;
    std::int64_t best_of_group = 1; ///< as many of its best scores, added, decide on a group
    bool operator==(const Route&) const = default;
};

/// Attributes of expert_linear and expert_sum.
struct Experts {
    /// The fractions of the experts multiply what the experts read, instead of what they return (Llama 4).
    bool scaled_input = false;
    bool operator==(const Experts&) const = default;
};

/// Columns of the innermost axis.
struct Slice {
    std::int64_t first = 0;
    Axis axis; ///< innermost axis of the result
    bool operator==(const Slice&) const = default;
};
struct Concat {
    std::string name; ///< innermost axis of the result
    bool operator==(const Concat&) const = default;
};

using Attributes = std::variant<std::monostate, Parameter, Input, Constant, Embedding, Linear, Scale, Norm,
                                Rotation, Mask, Softmax, Alibi, DistanceBias, RelativeProduct, Activation,
                                Gate, Route, Experts, Slice, Concat, Magnitude, Mix, GaussianTopK>;

} // namespace headscope::graph
