#include "core/attention/problem.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <cmath>
#include <limits>

using namespace headscope;
using Catch::Contains;

namespace {

constexpr Dims uneven{.B = 2, .Tq = 3, .Tk = 5, .D = 8, .Dkv = 6, .H = 4, .Hkv = 2, .dk = 3, .dv = 2};

Problem good() {
    Numbers numbers(5);
    return generate(uneven, {.biases = true, .gains = true}, numbers);
}

TensorPtr zeros(const Shape& shape) {
    return std::make_shared<const Tensor>(shape, 0.0F);
}

template<class Change>
std::string complaint(const Change& change) {
    Problem problem = good();
    change(problem);
    return input_error([&] { validate(problem); });
}

/// The tensor of a problem by its name, to be replaced.
TensorPtr& slot(Problem& p, TensorId id) {
    switch (id) {
    case TensorId::x:
        return p.x;
    case TensorId::x_kv:
        return p.x_kv;
    case TensorId::W_Q:
        return p.weights.W_Q;
    case TensorId::W_K:
        return p.weights.W_K;
    case TensorId::W_V:
        return p.weights.W_V;
    case TensorId::W_O:
        return p.weights.W_O;
    case TensorId::b_Q:
        return p.weights.b_Q;
    case TensorId::b_K:
        return p.weights.b_K;
    case TensorId::b_V:
        return p.weights.b_V;
    default:
        return p.weights.b_O;
    }
}

struct Wanted {
    TensorId id;
    const char* name;
    const char* shape;
};
const std::vector<Wanted> wanted{{TensorId::x, "X ", "(2, 3, 8)"},   {TensorId::x_kv, "X_kv ", "(2, 5, 6)"},
                                 {TensorId::W_Q, "W_Q ", "(8, 12)"}, {TensorId::W_K, "W_K ", "(6, 6)"},
                                 {TensorId::W_V, "W_V ", "(6, 4)"},  {TensorId::W_O, "W_O ", "(8, 8)"},
                                 {TensorId::b_Q, "b_Q ", "(12)"},    {TensorId::b_K, "b_K ", "(6)"},
                                 {TensorId::b_V, "b_V ", "(4)"},     {TensorId::b_O, "b_O ", "(8)"}};

} // namespace

TEST_CASE("a good problem passes, with biases and without") {
    CHECK(complaint([](Problem&) {}).empty());
    CHECK(complaint([](Problem& p) { p.weights.b_Q = p.weights.b_O = nullptr; }).empty());
    CHECK(complaint([](Problem& p) { p.gains.clear(); }).empty());
}

TEST_CASE("a tensor of another shape is refused by its name and both shapes") {
    for (const Wanted& w : wanted) {
        INFO(w.name);
        const std::string text = complaint([&](Problem& p) { slot(p, w.id) = zeros({7, 9}); });
        CHECK(text.starts_with(w.name));
        CHECK_THAT(text, Contains("(7, 9)") && Contains(w.shape));
    }
}

TEST_CASE("a missing tensor is refused by its name and its shape") {
    for (const TensorId id : {TensorId::x, TensorId::W_Q, TensorId::W_K, TensorId::W_V, TensorId::W_O}) {
        const std::string text = complaint([&](Problem& p) { slot(p, id) = nullptr; });
        INFO(tensor_info(id).name);
        CHECK_THAT(text, Contains("is missing") && Contains(tensor_info(id).shape(uneven).text()));
    }
    CHECK_THAT(complaint([](Problem& p) { p.x_kv = nullptr; }),
               Contains("X_kv is missing") && Contains("(3, 8)") && Contains("(5, 6)"));
}

TEST_CASE("NaN and infinity are refused by the name of the tensor and the cell") {
    for (const Wanted& w : wanted)
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            const std::string text = complaint([&](Problem& p) {
                TensorPtr& tensor = slot(p, w.id);
                Tensor changed(tensor->shape(), tensor->values());
                changed.data()[changed.count() - 1] = bad;
                tensor = std::make_shared<const Tensor>(std::move(changed));
            });
            INFO(text);
            const std::string name(w.name);
            CHECK(text.starts_with(name.substr(0, name.size() - 1) + "["));
            CHECK_THAT(text, Contains(std::isnan(bad) ? "NaN" : "infinite"));
        }
    CHECK_THAT(complaint([](Problem& p) {
                   Tensor x(p.x->shape(), p.x->values());
                   x.at(1, 2, 5) = std::numeric_limits<float>::infinity();
                   p.x = std::make_shared<const Tensor>(std::move(x));
               }),
               Contains("X[1, 2, 5]"));
}

TEST_CASE("sizes that make no problem are refused by their names") {
    CHECK_THAT(complaint([](Problem& p) { p.dims.Hkv = 3; }), Contains("H is 4") && Contains("Hkv is 3"));
    CHECK_THAT(complaint([](Problem& p) { p.dims.Tq = 0; }), Contains("Tq is 0"));
    CHECK_THAT(complaint([](Problem& p) { p.dims.dk = -1; }), Contains("dk is -1"));
    CHECK_THAT(complaint([](Problem& p) { p.dims.H = 0; }), Contains("H is 0"));
}

TEST_CASE("gains, temperature, labels and masks are checked") {
    CHECK_THAT(complaint([](Problem& p) { p.gains = {1, 1, 1}; }), Contains("3 head gains") && Contains("4"));
    CHECK_THAT(complaint([](Problem& p) { p.gains[2] = std::numeric_limits<float>::infinity(); }),
               Contains("gain of head 2"));
    for (const float bad :
         {0.0F, -1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
        CHECK_THAT(complaint([&](Problem& p) { p.temperature = bad; }), Contains("temperature"));
    CHECK_THAT(complaint([](Problem& p) { p.tokens = {"a", "b"}; }), Contains("2 tokens") && Contains("3"));
    CHECK_THAT(complaint([](Problem& p) { p.kv_tokens = {"a"}; }), Contains("1 key tokens") && Contains("5"));
    CHECK_THAT(complaint([](Problem& p) { p.mask = {SlidingWindowCausalMask{0}}; }), Contains("window"));
}

TEST_CASE("sizes are read off the tensors") {
    const Problem problem = good();
    CHECK(infer_dims(problem.x, problem.x_kv, problem.weights, 4, 2) == uneven);
    Dims alone = uneven;
    alone.Hkv = 4;
    alone.Tk = 3;
    alone.Dkv = 8;
    Weights weights = problem.weights;
    weights.W_V = zeros({8, 8});
    CHECK(infer_dims(problem.x, nullptr, weights, 4, std::nullopt) == alone);
}

TEST_CASE("sizes that cannot be read off the tensors are refused by the tensor and both numbers") {
    const Problem p = good();
    const auto failing = [&](const TensorPtr& x, const Weights& w, std::int64_t H, std::int64_t Hkv) {
        return input_error([&] { infer_dims(x, p.x_kv, w, H, Hkv); });
    };
    CHECK_THAT(failing(nullptr, p.weights, 4, 2), Contains("X is missing"));
    CHECK_THAT(failing(zeros({3, 8}), p.weights, 4, 2), Contains("X has shape (3, 8)") && Contains("3 axes"));
    CHECK_THAT(failing(zeros({2, 0, 8}), p.weights, 4, 2), Contains("X has shape (2, 0, 8)"));
    CHECK_THAT(failing(p.x, p.weights, 5, 5), Contains("W_Q has 12 columns") && Contains("H = 5"));
    CHECK_THAT(failing(p.x, p.weights, 0, 1), Contains("H is 0"));
    CHECK_THAT(failing(p.x, p.weights, 4, -2), Contains("Hkv is -2"));
    CHECK_THAT(failing(p.x, p.weights, 4, 3), Contains("H is 4") && Contains("Hkv is 3"));
    Weights odd = p.weights;
    odd.W_V = zeros({6, 5});
    CHECK_THAT(failing(p.x, odd, 4, 2), Contains("W_V has 5 columns") && Contains("Hkv = 2"));
    odd.W_V = nullptr;
    CHECK_THAT(failing(p.x, odd, 4, 2), Contains("W_V is missing"));
}

TEST_CASE("tokens are labelled by their texts, or by number") {
    Problem p = good();
    CHECK(p.query_label(2) == "2");
    CHECK(p.key_label(4) == "4");
    p.tokens = {"a", "b", "c"};
    CHECK(p.query_label(2) == "c");
    CHECK(p.key_label(1) == "1"); // keys have their own source here
    p.kv_tokens = {"v", "w", "x", "y", "z"};
    CHECK(p.key_label(1) == "w");
    p.x_kv = nullptr;
    CHECK(p.key_label(1) == "b");
}

TEST_CASE("an input is found by its name, and stages are no inputs") {
    const Problem p = good();
    for (const Wanted& w : wanted)
        CHECK(p.input(w.id)->shape().text() == w.shape);
    for (const TensorId id : {TensorId::q, TensorId::output, TensorId::mask, TensorId::gain})
        CHECK(p.input(id) == nullptr);
}
