#include "core/attention/graph_of_problem.h"
#include "core/trace/stage.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/conformance/reference.h"
#include "tests/support.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

// Compares the reads of the graph with the reference: every number that a user owns is changed, one at a
// time, and the whole problem is recomputed. A cell of a stage changes exactly if the reads lead from it to
// that number.

using namespace headscope;

namespace {

/// A set of numbers that the user owns, by their place in Leaves.
using Set = std::vector<bool>;

/// Every number that the user owns, counted through.
class Leaves {
public:
    explicit Leaves(const Problem& problem) {
        for (int id = 0; id < tensor_count; ++id)
            if (const Tensor* tensor = problem.input(static_cast<TensorId>(id)))
                add(static_cast<TensorId>(id), tensor->count());
        add(TensorId::gain, static_cast<std::int64_t>(problem.gains.size()));
        if (!problem.mask.empty())
            add(TensorId::mask, tensor_info(TensorId::mask).shape(problem.dims).count());
    }
    std::size_t count() const { return count_; }
    bool has(TensorId id) const { return first_.contains(id); }
    std::size_t at(TensorId id, std::int64_t offset) const {
        return first_.at(id) + static_cast<std::size_t>(offset);
    }
    /// Calls visit(tensor, offset, place) for each.
    template<class Visit>
    void each(const Visit& visit) const {
        for (const auto& [id, first] : first_)
            for (std::size_t i = 0; i < size_.at(id); ++i)
                visit(id, static_cast<std::int64_t>(i), first + i);
    }

private:
    void add(TensorId id, std::int64_t size) {
        first_[id] = count_;
        size_[id] = static_cast<std::size_t>(size);
        count_ += static_cast<std::size_t>(size);
    }
    std::map<TensorId, std::size_t> first_, size_;
    std::size_t count_ = 0;
};

/// For each cell of each stage the numbers of the user that the reads of the graph lead to.
std::map<TensorId, std::vector<Set>> reached_by_reads(const Problem& problem, const Leaves& leaves,
                                                      const Trace& trace) {
    const AttentionGraph graph = attention_graph(problem);
    std::map<TensorId, std::vector<Set>> reached;
    const auto minus_infinity = [&](const Index& at) {
        return std::isinf(trace.stage(TensorId::masked)->at(at[0], at[1], at[2], at[3]));
    };
    for (const TensorInfo& info : stages_of(problem.parts())) {
        if (info.id == TensorId::x)
            continue;
        const Shape shape = info.shape(problem.dims);
        std::vector<Set>& sets = reached[info.id];
        sets.assign(static_cast<std::size_t>(shape.count()), Set(leaves.count()));
        for (std::int64_t offset = 0; offset < shape.count(); ++offset) {
            const Index at = shape.index(offset);
            // Masked scores stay minus infinity, and their weights 0, for every change.
            if ((info.id == TensorId::masked || info.id == TensorId::weights) && minus_infinity(at))
                continue;
            Set& set = sets[static_cast<std::size_t>(offset)];
            for (const ReadSpan& span : graph.reads(info.id, at))
                for (std::int64_t n = 0; n < span.count; ++n) {
                    // A value that is multiplied by a weight of 0 changes nothing.
                    if (info.id == TensorId::head_out && span.source == TensorId::v_heads &&
                        minus_infinity({at[0], at[1], at[2], n}))
                        continue;
                    Index from = span.first;
                    from[static_cast<std::size_t>(span.axis)] += n;
                    const Shape source = tensor_info(span.source).shape(problem.dims);
                    const auto place = source.offset(from);
                    if (leaves.has(span.source))
                        set[leaves.at(span.source, place)] = true;
                    else if (const auto other = reached.find(span.source); other != reached.end())
                        for (std::size_t leaf = 0; leaf < set.size(); ++leaf)
                            set[leaf] = set[leaf] || other->second[static_cast<std::size_t>(place)][leaf];
                }
        }
    }
    return reached;
}

TensorPtr changed(const TensorPtr& tensor, std::int64_t offset) {
    Tensor copy(tensor->shape(), tensor->values());
    copy.data()[offset] += 0.4375F;
    return std::make_shared<const Tensor>(std::move(copy));
}

Problem changed(Problem problem, TensorId id, std::int64_t offset) {
    if (id == TensorId::gain)
        problem.gains[static_cast<std::size_t>(offset)] += 0.4375F;
    else if (id == TensorId::mask) {
        auto& additive = std::get<AdditiveMask>(problem.mask.front());
        additive.add = changed(additive.add, offset);
    } else
        *problem.input_slot(id) = changed(*problem.input_slot(id), offset);
    return problem;
}

/// One number added to every score of a row leaves its softmax as it is: without a rotation or norm a bias of
/// the keys, or of the keys of relative positions, does just that.
bool only_shifts_rows(const Problem& problem, TensorId leaf, TensorId stage) {
    return (leaf == TensorId::b_K || leaf == TensorId::b_KR) && !problem.rotary && !problem.parts().qk_norm &&
           !problem.parts().joint_norm && !problem.parts().sink && stage >= TensorId::weights;
}

void check_reads(const Problem& problem) {
    validate(problem);
    const Trace before = reference_trace(problem);
    const Leaves leaves(problem);
    const auto reached = reached_by_reads(problem, leaves, before);
    std::map<std::pair<TensorId, TensorId>, int> missed, invented;
    std::map<TensorId, int> seen;
    leaves.each([&](TensorId leaf, std::int64_t offset, std::size_t place) {
        const Trace after = reference_trace(changed(problem, leaf, offset));
        for (const auto& [stage, sets] : reached) {
            if (only_shifts_rows(problem, leaf, stage))
                continue;
            for (std::size_t cell = 0; cell < sets.size(); ++cell) {
                const bool differs = before.stage(stage)->data()[cell] != after.stage(stage)->data()[cell];
                seen[stage] += differs;
                missed[{stage, leaf}] += differs && !sets[cell][place];
                invented[{stage, leaf}] += !differs && sets[cell][place];
            }
        }
    });
    for (const auto& [pair, count] : missed)
        if (count > 0)
            FAIL_CHECK(count << " times a cell of " << tensor_info(pair.first).name << " changed with "
                             << tensor_info(pair.second).name << ", which it does not say that it reads");
    for (const auto& [pair, count] : invented)
        if (count > 0)
            FAIL_CHECK(count << " times a cell of " << tensor_info(pair.first).name << " says that it reads "
                             << tensor_info(pair.second).name << ", and does not change with it");
    CHECK(reached.size() == stages_of(problem.parts()).size() - 1);
    for (const auto& [stage, sets] : reached)
        CHECK(seen[stage] >= static_cast<int>(sets.size()) / 2);
}

constexpr Features all{.biases = true, .gains = false, .temperature = 0.8F};

Problem small_problem(const Dims& dims, std::uint64_t seed, const Features& features = all) {
    Numbers numbers(seed);
    Problem problem = generate(dims, features, numbers);
    for (std::int64_t h = 0; h < dims.H; ++h)
        problem.gains.push_back(0.75F + 0.25F * static_cast<float>(h));
    return problem;
}

constexpr Dims self{.B = 2, .Tq = 3, .Tk = 3, .D = 3, .Dkv = 3, .H = 2, .Hkv = 2, .dk = 2, .dv = 3};

} // namespace

TEST_CASE("a cell changes exactly with the numbers it reads, in self-attention", "[stage][reads]") {
    check_reads(small_problem(self, 1));
}

TEST_CASE("a cell changes exactly with the numbers it reads, in cross-attention", "[stage][reads]") {
    check_reads(
        small_problem({.B = 2, .Tq = 2, .Tk = 4, .D = 3, .Dkv = 2, .H = 2, .Hkv = 2, .dk = 3, .dv = 2}, 2));
}

TEST_CASE("a cell changes exactly with the numbers it reads, where heads share keys", "[stage][reads]") {
    check_reads(
        small_problem({.B = 1, .Tq = 3, .Tk = 3, .D = 4, .Dkv = 4, .H = 6, .Hkv = 2, .dk = 2, .dv = 1}, 3));
    check_reads(
        small_problem({.B = 1, .Tq = 2, .Tk = 2, .D = 3, .Dkv = 3, .H = 3, .Hkv = 1, .dk = 1, .dv = 2}, 4));
}

TEST_CASE("a cell changes exactly with the numbers it reads, with turned positions", "[stage][reads]") {
    Dims dims = self;
    dims.dk = 4;
    Problem problem = small_problem(dims, 5);
    Numbers angles(6);
    Tensor cosines({1, dims.Tq, dims.dk}), sines({1, dims.Tq, dims.dk});
    for (std::int64_t n = 0; n < cosines.count(); ++n) {
        const float angle = 0.8F + 0.5F * angles.real();
        cosines.data()[n] = std::cos(angle);
        sines.data()[n] = std::sin(angle);
    }
    problem.rotary = Rotary{std::make_shared<const Tensor>(std::move(cosines)),
                            std::make_shared<const Tensor>(std::move(sines))};
    check_reads(problem);
}

TEST_CASE("a cell changes exactly with the numbers it reads, with normed queries and keys",
          "[stage][reads]") {
    Problem problem = small_problem(self, 9);
    Numbers numbers(10);
    problem.weights.q_norm = numbers.tensor({self.dk}, 1);
    problem.weights.k_norm = numbers.tensor({self.dk}, 1);
    problem.norm_eps = 0.5F; // a longer row is then not the same row
    check_reads(problem);
}

TEST_CASE("a cell changes exactly with the numbers it reads, with normed values", "[stage][reads]") {
    Problem problem = small_problem(self, 9);
    Numbers numbers(10);
    problem.weights.v_norm = numbers.tensor({self.dv}, 1);
    problem.norm_eps = 0.5F;
    check_reads(problem);
}

TEST_CASE("a cell changes exactly with the numbers it reads, with a norm across the heads",
          "[stage][reads]") {
    Problem problem = small_problem(self, 9);
    Numbers numbers(10);
    problem.weights.q_norm_all = numbers.tensor({self.H * self.dk}, 3);
    problem.weights.k_norm_all = numbers.tensor({self.Hkv * self.dk}, 3);
    problem.norm_eps = 0.5F;
    check_reads(problem);
}

TEST_CASE("a cell changes exactly with the numbers it reads, with a sink", "[stage][reads]") {
    Problem problem = small_problem(self, 11);
    Numbers numbers(12);
    problem.weights.sink = numbers.tensor({self.H}, 1);
    check_reads(problem);
}

TEST_CASE("a cell changes exactly with the numbers it reads, with a soft cap", "[stage][reads]") {
    Problem problem = small_problem(self, 11);
    problem.score_cap = 2;
    check_reads(problem);
}

TEST_CASE("a cell changes exactly with the numbers it reads, with relative positions", "[stage][reads]") {
    Dims dims = self;
    dims.distances = 6;
    for (const bool own : {false, true})
        for (const auto& [c2p, p2c] : {std::pair(true, true), {true, false}, {false, true}}) {
            INFO(own << c2p << p2c);
            Features features = all;
            features.relative = RelativeTerms{{.span = 3, .buckets = own ? 0 : 3, .furthest = 4}, c2p, p2c};
            features.own_positions = own;
            check_reads(small_problem(dims, 13, features));
        }
}

TEST_CASE("a cell changes exactly with the numbers it reads, with a gate on the head outputs",
          "[stage][reads]") {
    Problem problem = small_problem(self, 15);
    Numbers numbers(16);
    problem.weights.W_G = numbers.tensor({self.D, self.H * self.dv}, 1);
    problem.weights.b_G = numbers.tensor({self.H * self.dv}, 1);
    check_reads(problem);
}

TEST_CASE("a cell changes exactly with the numbers it reads, under a mask", "[stage][reads]") {
    // Every row keeps at least two keys: with one its weight is 1 whatever is changed.
    Dims dims = self;
    dims.Tq = dims.Tk = 4;
    Problem problem = small_problem(dims, 7);
    Numbers numbers(8);
    problem.mask = {AdditiveMask{numbers.tensor(tensor_info(TensorId::mask).shape(dims), 0.5F)},
                    SlidingWindowSymmetricMask{1}};
    check_reads(problem);
}
