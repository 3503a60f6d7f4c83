#include "core/analysis/difference.h"
#include "tests/catch.h"

#include <rapidcheck/catch.h>

#include <cmath>
#include <map>

using namespace headscope;
using namespace headscope::analysis;

namespace {

TensorPtr tensor_of(const Shape& shape, std::vector<float> values) {
    return make_tensor(shape, values);
}

/// The head that a cell belongs to by the words of architecture: blocks along H, columns by dk or dv, rows of
/// W_O by dv; -1 where no head owns it.
std::int64_t owner(TensorId id, const Index& at, const Dims& d) {
    using enum TensorId;
    switch (id) {
    case q_normed:
    case k_normed:
    case v_normed:
    case q_heads:
    case k_heads:
    case v_heads:
    case c2p:
    case p2c:
    case scores:
    case scaled:
    case masked:
    case weights:
    case head_out:
    case gate:
    case head_out_gated:
    case contributions:
        return at[1];
    case q:
    case k:
        return at[2] / d.dk;
    case v:
    case concat:
        return at[2] / d.dv;
    case pos_keys:
    case pos_queries:
    case W_Q:
    case W_K:
    case W_KR:
    case W_QR:
        return at[1] / d.dk;
    case W_V:
    case W_G:
        return at[1] / d.dv;
    case W_O:
        return at[0] / d.dv;
    case b_Q:
    case b_K:
    case b_KR:
    case b_QR:
    case q_norm_all:
    case k_norm_all:
        return at[0] / d.dk;
    case sink:
        return at[0];
    case b_V:
    case b_G:
        return at[0] / d.dv;
    default:
        return -1;
    }
}

template<class Visit>
void each_index(const Shape& shape, Visit visit) {
    for (std::int64_t n = 0; n < shape.count(); ++n) {
        Index at{};
        std::int64_t rest = n;
        for (int axis = shape.rank() - 1; axis >= 0; --axis) {
            at[static_cast<std::size_t>(axis)] = rest % shape[axis];
            rest /= shape[axis];
        }
        visit(at, n);
    }
}

Problem sized(const Dims& dims) {
    Problem problem;
    problem.dims = dims;
    return problem;
}

} // namespace

TEST_CASE("a difference of two hand-made head outputs", "[difference]") {
    const Dims dims{1, 2, 2, 4, 4, 2, 2, 2, 2};
    const Shape shape{1, 2, 2, 2};
    const TensorPtr a = tensor_of(shape, {1, 2, 3, 4, 5, 6, 7, 8});
    const TensorPtr b = tensor_of(shape, {1, 5, 3, 0, 5, 6, 7, 7.5F});
    const TensorDifference change = difference(TensorId::head_out, *a, *b, dims, 0);
    const std::vector<float> wanted{0, 3, 0, -4, 0, 0, 0, -0.5F};
    CHECK(std::vector<float>(change.cells->values().begin(), change.cells->values().end()) == wanted);
    CHECK(change.head_norms == std::vector<double>{5, 0.5});
    CHECK(change.norm == Approx(std::sqrt(25.25)));
    CHECK(change.changed == 3);
    CHECK(change.masked_in_one == 0);
    REQUIRE(change.largest_at);
    CHECK(*change.largest_at == Index{0, 0, 1, 1});
    CHECK(change.largest == -4);
}

TEST_CASE("masked scores: in both, in A only, in B only", "[difference]") {
    const Dims dims{1, 2, 2, 4, 4, 1, 1, 4, 4};
    const Shape shape{1, 1, 2, 2};
    const TensorPtr a = tensor_of(shape, {-INFINITY, -INFINITY, 1, 2});
    const TensorPtr b = tensor_of(shape, {-INFINITY, 3, -INFINITY, 2.25F});
    const TensorDifference change = difference(TensorId::masked, *a, *b, dims, 0);
    CHECK(std::isnan(change.cells->data()[0]));
    CHECK(change.cells->data()[1] == INFINITY);
    CHECK(change.cells->data()[2] == -INFINITY);
    CHECK(change.cells->data()[3] == 0.25F);
    CHECK(change.changed == 3);
    CHECK(change.masked_in_one == 2);
    CHECK(change.norm == 0.25);
    CHECK(change.largest == 0.25F);
}

TEST_CASE("nothing changed, and changes too large for float32", "[difference]") {
    const Dims dims{1, 1, 1, 2, 2, 1, 1, 2, 2};
    const TensorPtr a = tensor_of({1, 1, 2}, {-3e38F, 1});
    const TensorPtr b = tensor_of({1, 1, 2}, {3e38F, 1});
    const TensorDifference none = difference(TensorId::x, *a, *a, dims, 0);
    CHECK(none.changed == 0);
    CHECK(none.norm == 0);
    CHECK_FALSE(none.largest_at);
    CHECK(none.head_norms.empty());
    const TensorDifference large = difference(TensorId::x, *a, *b, dims, 0);
    CHECK(std::isfinite(large.cells->data()[0]));
    CHECK(large.masked_in_one == 0);
    CHECK(std::isfinite(large.norm));
    CHECK_THROWS(difference(TensorId::output, *a, *tensor_of({1, 2}, {1, 2}), dims, 0));
}

TEST_CASE("every tensor: cells, norms by head and the largest change agree with their definition",
          "[difference]") {
    rc::prop("for any sizes and numbers", [] {
        Dims d;
        d.B = *rc::gen::inRange(1, 3);
        d.Tq = *rc::gen::inRange(1, 4);
        d.Tk = *rc::gen::inRange(1, 4);
        d.D = *rc::gen::inRange(1, 5);
        d.Dkv = *rc::gen::inRange(1, 5);
        d.Hkv = *rc::gen::inRange(1, 3);
        d.H = d.Hkv * *rc::gen::inRange(1, 3);
        d.dk = *rc::gen::inRange(1, 4);
        d.dv = *rc::gen::inRange(1, 4);
        d.distances = *rc::gen::inRange(1, 4);
        const auto id = static_cast<TensorId>(*rc::gen::inRange(0, static_cast<int>(TensorId::mask)));
        const std::int64_t batch = *rc::gen::inRange<std::int64_t>(0, d.B);
        const Shape shape = tensor_info(id).shape(d);
        const auto values = [&] {
            auto some = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(shape.count()),
                                                              rc::gen::inRange(-40, 41));
            return std::vector<float>(some.begin(), some.end());
        };
        const TensorPtr a = tensor_of(shape, values()), b = tensor_of(shape, values());
        const TensorDifference change = difference(id, *a, *b, d, batch);
        const bool batched = tensor_info(id).axes[0] == Axis::B;
        std::map<std::int64_t, double> squares;
        double total = 0, largest = 0;
        std::int64_t changed = 0;
        each_index(shape, [&](const Index& at, std::int64_t n) {
            const double delta = static_cast<double>(b->data()[n]) - static_cast<double>(a->data()[n]);
            RC_ASSERT(static_cast<double>(change.cells->data()[n]) == delta);
            if (batched && at[0] != batch)
                return;
            squares[owner(id, at, d)] += delta * delta;
            total += delta * delta;
            largest = std::max(largest, std::abs(delta));
            changed += delta != 0 ? 1 : 0;
        });
        RC_ASSERT(std::abs(change.norm - std::sqrt(total)) < 1e-9);
        RC_ASSERT(change.changed == changed);
        RC_ASSERT(std::abs(static_cast<double>(change.largest)) == largest);
        if (squares.contains(-1)) {
            RC_ASSERT(change.head_norms.empty());
        } else {
            RC_ASSERT(change.head_norms.size() == squares.size());
            for (const auto& [head, square] : squares)
                RC_ASSERT(std::abs(change.head_norms[static_cast<std::size_t>(head)] - std::sqrt(square)) <
                          1e-9);
        }
        if (change.largest_at)
            RC_ASSERT(change.cells->data()[shape.offset(*change.largest_at)] == change.largest);
    });
}

TEST_CASE("problems of other sizes are told apart by the sizes that differ", "[difference]") {
    const Dims dims{1, 4, 4, 8, 8, 2, 2, 4, 4};
    Dims other = dims;
    CHECK(why_not_comparable(sized(dims), sized(other)).empty());
    other.H = other.Hkv = 4;
    other.dk = other.dv = 2;
    CHECK(why_not_comparable(sized(dims), sized(other)) == "A has H 2, dk 4, B has H 4, dk 2.");
    other = dims;
    other.Tq = other.Tk = 6;
    CHECK(why_not_comparable(sized(dims), sized(other)) == "A has T 4, B has T 6.");
    other = dims;
    other.Hkv = 1;
    CHECK(why_not_comparable(sized(dims), sized(other)) == "A has Hkv 2, B has Hkv 1.");
    Problem cross = sized(dims);
    cross.x_kv = tensor_of({1, 4, 8}, std::vector<float>(32, 1));
    CHECK_THAT(why_not_comparable(sized(dims), cross), Catch::Contains("second"));
    Problem words = sized(dims);
    words.tokens = {"a", "b", "c", "d"};
    CHECK(words_differ(sized(dims), words));
    CHECK_FALSE(words_differ(words, words));
}
