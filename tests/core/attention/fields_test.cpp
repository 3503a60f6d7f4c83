#include "core/attention/same_bits.h"
#include "core/base/overloaded.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <set>

using namespace headscope;

namespace {

/// Self-attention whose heads a rotary position embedding can turn.
Problem turnable() {
    Numbers numbers(11);
    return generate({.B = 1, .Tq = 3, .Tk = 3, .D = 6, .Dkv = 6, .H = 2, .Hkv = 1, .dk = 4, .dv = 3}, {},
                    numbers);
}

Rotary tables(float cos, float sin) {
    return {std::make_shared<const Tensor>(Shape{1, 3, 4}, cos),
            std::make_shared<const Tensor>(Shape{1, 3, 4}, sin)};
}

std::set<std::string_view> names_of(const StageSet& stages) {
    std::set<std::string_view> names;
    for (const TensorInfo& stage : stage_table())
        if (stages.has(stage.id))
            names.insert(stage.name);
    return names;
}

const std::set<std::string_view> from_split{"q_heads", "k_heads",       "scores",       "scaled",
                                            "masked",  "weights",       "weights_mean", "head_out",
                                            "concat",  "contributions", "output"};

} // namespace

TEST_CASE("every tensor that the user may edit is a field under the name of its row") {
    std::set<std::string_view> names;
    Problem problem;
    visit_fields(Overloaded{[&](const Field& field, const TensorPtr& tensor) {
                                REQUIRE(field.row);
                                CHECK(field.name == tensor_info(*field.row).name);
                                CHECK(problem.input_slot(*field.row) == &tensor);
                                CHECK(is_editable(*field.row) == (field.name != "query_scale"));
                                CHECK(names.insert(field.name).second);
                            },
                            [](const Field&, const auto&) {}},
                 problem);
    CHECK(names == std::set<std::string_view>{"x",          "x_kv", "W_Q",           "W_K",    "W_V",
                                              "W_O",        "W_G",  "b_Q",           "b_K",    "b_V",
                                              "b_G",        "b_O",  "q_norm",        "k_norm", "q_norm_all",
                                              "k_norm_all", "sink", "rel_positions", "W_KR",   "b_KR",
                                              "W_QR",       "b_QR", "query_scale",   "v_norm"});
    for (const TensorId id : {TensorId::q, TensorId::mask, TensorId::temperature, TensorId::rotary_cos})
        CHECK_FALSE(is_editable(id));
}

TEST_CASE("no two problems are equal whose fields differ in a bit") {
    const Problem one = turnable();
    Problem other = one;
    CHECK(same_bits(one, other));
    other.temperature = 2;
    CHECK_FALSE(same_bits(one, other));
    other = one;
    other.tokens = {"a", "b", "c"};
    CHECK_FALSE(same_bits(one, other));
    other = one;
    other.rotary = tables(1, 0);
    CHECK_FALSE(same_bits(one, other));
    Problem turned = one;
    turned.rotary = tables(1, -0.0F);
    CHECK_FALSE(same_bits(turned, other));
}

TEST_CASE("a problem has the tensors of its parts") {
    CHECK_FALSE(has_tensor(TensorId::x_kv, {}));
    CHECK(has_tensor(TensorId::rotary_sin, {.rotary = true}));
    CHECK(StageSet::of({.c2p = true, .p2c = true, .qk_norm = true, .value_norm = true, .gated = true}) ==
          StageSet::all());
    CHECK_FALSE(StageSet::of({}).has(TensorId::q_normed));
    CHECK(StageSet::of({.joint_norm = true}).has(TensorId::q_normed));
    CHECK(has_tensor(TensorId::norm_eps, {.joint_norm = true}));
    CHECK_FALSE(has_tensor(TensorId::q_norm, {.joint_norm = true}));
}

TEST_CASE("a rotation that comes, goes or changes makes the split heads dirty") {
    const Problem plain = turnable();
    Problem turned = plain, further = plain;
    turned.rotary = tables(1, 0);
    further.rotary = tables(0, 1);
    CHECK(names_of(recomputed(plain, turned).stages()) == from_split);
    CHECK(names_of(recomputed(turned, plain).stages()) == from_split);
    CHECK(names_of(recomputed(turned, further).stages()) == from_split);
    CHECK(recomputed(turned, turned).stages().empty());
}

TEST_CASE("an edit is followed through the table from the row of its field") {
    const Problem before = turnable();
    Problem after = before;
    after.temperature = 2;
    std::set<std::string_view> wanted = from_split;
    for (const char* earlier : {"q_heads", "k_heads", "scores"})
        wanted.erase(earlier);
    CHECK(names_of(recomputed(before, after).stages()) == wanted);
    after = before;
    after.gains = {1, 0.5F};
    const DirtySet by_gain = recomputed(before, after);
    CHECK(names_of(by_gain.stages()) == std::set<std::string_view>{"concat", "contributions", "output"});
    CHECK_FALSE(by_gain.has(TensorId::contributions, 0));
    CHECK(by_gain.has(TensorId::contributions, 1));
}
