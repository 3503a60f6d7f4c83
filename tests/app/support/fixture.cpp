#include "tests/app/support/fixture.h"

#include "core/base/overloaded.h"
#include "tests/catch.h"
#include "tests/tensors.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace headscope::test {

using namespace headscope::app;

namespace {

TensorPtr random_tensor(const Shape& shape, std::mt19937& random, float scale) {
    auto tensor = std::make_shared<Tensor>(shape);
    std::normal_distribution<float> normal(0.0F, scale);
    for (float& value : tensor->values())
        value = normal(random);
    return tensor;
}

std::size_t spot(const Shape& shape, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    const std::array<std::int64_t, 4> full{b, h, i, j};
    std::size_t offset = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t at = full[static_cast<std::size_t>(axis + 4 - shape.rank())];
        offset = offset * static_cast<std::size_t>(shape[axis]) +
                 static_cast<std::size_t>(shape[axis] == 1 ? 0 : at);
    }
    return offset;
}

/// Returns the number that one rule adds to a score: minus infinity if it forbids the key.
double rule_adds(const MaskRule& rule, const Dims& d, std::int64_t b, std::int64_t h, std::int64_t i,
                 std::int64_t j) {
    const std::int64_t behind = i + d.Tk - d.Tq - j;
    const auto where = [](bool allowed) { return allowed ? 0.0 : -INFINITY; };
    return std::visit(
        Overloaded{
            [&](const CausalMask&) { return where(behind >= 0); },
            [&](const KeyPaddingMask& r) {
                const std::int64_t row = r.key_valid->shape[0] == 1 ? 0 : b;
                return where(r.key_valid->values[static_cast<std::size_t>(row * d.Tk + j)] != 0);
            },
            [&](const SlidingWindowCausalMask& r) { return where(behind >= 0 && behind < r.window); },
            [&](const SlidingWindowSymmetricMask& r) { return where(std::abs(behind) <= r.half_width); },
            [&](const ChunkedCausalMask& r) {
                const std::int64_t position = behind + j;
                return where(behind >= 0 && j / r.chunk == position / r.chunk);
            },
            [&](const ExplicitMask& r) {
                // A rank-3 mask is (B, Tq, Tk): it does not have a head axis.
                const Shape& s = r.allowed->shape;
                const std::size_t at =
                    s.rank() == 3 ? static_cast<std::size_t>(((s[0] == 1 ? 0 : b) * d.Tq + i) * d.Tk + j)
                                  : spot(s, b, h, i, j);
                return where(r.allowed->values[at] != 0);
            },
            [&](const AdditiveMask& r) {
                return static_cast<double>(r.add->values()[spot(r.add->shape(), b, h, i, j)]);
            }},
        rule);
}

class Computation {
public:
    explicit Computation(const Problem& problem) : p_(problem), d_(problem.dims) {
        trace_.dims = d_;
        trace_.device = "test";
        for (int id = 0; id < stage_count; ++id) {
            if (!has_tensor(static_cast<TensorId>(id), problem.parts()))
                continue;
            stages_[static_cast<std::size_t>(id)] =
                std::make_shared<Tensor>(tensor_info(static_cast<TensorId>(id)).shape(d_), 0.0F);
            trace_.stages[static_cast<std::size_t>(id)] = stages_[static_cast<std::size_t>(id)];
        }
    }

    std::shared_ptr<const Trace> run() {
        std::ranges::copy(p_.x->values(), of(TensorId::x).values().begin());
        const Tensor& source = p_.cross() ? *p_.x_kv : *p_.x;
        multiply(*p_.x, *p_.weights.W_Q, p_.weights.b_Q, of(TensorId::q));
        multiply(source, *p_.weights.W_K, p_.weights.b_K, of(TensorId::k));
        multiply(source, *p_.weights.W_V, p_.weights.b_V, of(TensorId::v));
        split(TensorId::q, TensorId::q_heads);
        split(TensorId::k, TensorId::k_heads);
        split(TensorId::v, TensorId::v_heads);
        for (std::int64_t b = 0; b < d_.B; ++b)
            for (std::int64_t h = 0; h < d_.H; ++h)
                for (std::int64_t i = 0; i < d_.Tq; ++i)
                    attend(b, h, i);
        multiply(of(TensorId::concat), *p_.weights.W_O, p_.weights.b_O, of(TensorId::output));
        return std::make_shared<const Trace>(std::move(trace_));
    }

private:
    Tensor& of(TensorId id) { return *stages_[static_cast<std::size_t>(id)]; }

    void multiply(const Tensor& X, const Tensor& W, const TensorPtr& bias, Tensor& out) const {
        for (std::int64_t b = 0; b < X.shape()[0]; ++b)
            for (std::int64_t i = 0; i < X.shape()[1]; ++i)
                for (std::int64_t c = 0; c < W.shape()[1]; ++c) {
                    double sum = bias == nullptr ? 0.0 : static_cast<double>(bias->at(c));
                    for (std::int64_t d = 0; d < W.shape()[0]; ++d)
                        sum += static_cast<double>(X.at(b, i, d)) * static_cast<double>(W.at(d, c));
                    out.at(b, i, c) = static_cast<float>(sum);
                }
    }

    void split(TensorId from, TensorId to) {
        Tensor& out = of(to);
        const Shape& s = out.shape();
        for (std::int64_t b = 0; b < s[0]; ++b)
            for (std::int64_t h = 0; h < s[1]; ++h)
                for (std::int64_t i = 0; i < s[2]; ++i)
                    for (std::int64_t c = 0; c < s[3]; ++c)
                        out.at(b, h, i, c) = of(from).at(b, i, h * s[3] + c);
    }

    void attend(std::int64_t b, std::int64_t h, std::int64_t i) {
        const std::int64_t g = h / (d_.H / d_.Hkv);
        std::vector<double> masked;
        for (std::int64_t j = 0; j < d_.Tk; ++j) {
            double score = 0, add = 0;
            for (std::int64_t c = 0; c < d_.dk; ++c)
                score += static_cast<double>(of(TensorId::q_heads).at(b, h, i, c)) *
                         static_cast<double>(of(TensorId::k_heads).at(b, g, j, c));
            for (const MaskRule& rule : p_.mask)
                add += rule_adds(rule, d_, b, h, i, j);
            const double scaled =
                score / std::sqrt(static_cast<double>(d_.dk)) / static_cast<double>(p_.temperature);
            masked.push_back(scaled + add);
            of(TensorId::scores).at(b, h, i, j) = static_cast<float>(score);
            of(TensorId::scaled).at(b, h, i, j) = static_cast<float>(scaled);
            of(TensorId::masked).at(b, h, i, j) = static_cast<float>(masked.back());
        }
        const double max = *std::ranges::max_element(masked);
        if (std::isinf(max)) {
            trace_.fully_masked.push_back({b, h, i});
            std::ranges::sort(trace_.fully_masked, {}, [](const MaskedRow& r) {
                return std::array{r.b, r.h, r.i};
            });
            return;
        }
        double sum = 0;
        for (const double value : masked)
            sum += std::exp(value - max);
        for (std::int64_t j = 0; j < d_.Tk; ++j) {
            const double weight = std::exp(masked[static_cast<std::size_t>(j)] - max) / sum;
            of(TensorId::weights).at(b, h, i, j) = static_cast<float>(weight);
            of(TensorId::weights_mean).at(b, i, j) += static_cast<float>(weight / static_cast<double>(d_.H));
        }
        mix_values(b, h, i, g);
    }

    void mix_values(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t g) {
        const auto gain = static_cast<double>(p_.gain(h));
        for (std::int64_t c = 0; c < d_.dv; ++c) {
            double sum = 0;
            for (std::int64_t j = 0; j < d_.Tk; ++j)
                sum += static_cast<double>(of(TensorId::weights).at(b, h, i, j)) *
                       static_cast<double>(of(TensorId::v_heads).at(b, g, j, c));
            of(TensorId::head_out).at(b, h, i, c) = static_cast<float>(sum);
            of(TensorId::concat).at(b, i, h * d_.dv + c) = static_cast<float>(sum * gain);
        }
        for (std::int64_t o = 0; o < d_.D; ++o) {
            double sum = 0;
            for (std::int64_t c = 0; c < d_.dv; ++c)
                sum += gain * static_cast<double>(of(TensorId::head_out).at(b, h, i, c)) *
                       static_cast<double>(p_.weights.W_O->at(h * d_.dv + c, o));
            of(TensorId::contributions).at(b, h, i, o) = static_cast<float>(sum);
        }
    }

    const Problem& p_;
    const Dims& d_;
    Trace trace_;
    std::array<std::shared_ptr<Tensor>, stage_count> stages_;
};

std::vector<std::string> numbered(const std::string& word, int count) {
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i)
        out.push_back(word + std::to_string(i));
    return out;
}

} // namespace

Shown make_shown(const Wish& wish) {
    std::mt19937 random(wish.seed);
    auto document = std::make_shared<Document>();
    Problem& p = document->problem;
    p.dims = {wish.B, wish.Tq, wish.Tk, wish.D, wish.Dkv, wish.H, wish.Hkv, wish.dk, wish.dv};
    p.x = random_tensor({wish.B, wish.Tq, wish.D}, random, wish.scale);
    if (wish.cross)
        p.x_kv = random_tensor({wish.B, wish.Tk, wish.Dkv}, random, wish.scale);
    p.weights.W_Q = random_tensor({wish.D, wish.H * wish.dk}, random, 0.6F);
    p.weights.W_K = random_tensor({wish.Dkv, wish.Hkv * wish.dk}, random, 0.6F);
    p.weights.W_V = random_tensor({wish.Dkv, wish.Hkv * wish.dv}, random, 0.6F);
    p.weights.W_O = random_tensor({wish.H * wish.dv, wish.D}, random, 0.6F);
    if (wish.biases) {
        p.weights.b_Q = random_tensor({wish.H * wish.dk}, random, 0.4F);
        p.weights.b_K = random_tensor({wish.Hkv * wish.dk}, random, 0.4F);
        p.weights.b_V = random_tensor({wish.Hkv * wish.dv}, random, 0.4F);
        p.weights.b_O = random_tensor({wish.D}, random, 0.4F);
    }
    p.mask = wish.mask;
    p.gains = wish.gains;
    p.temperature = wish.temperature;
    p.tokens = wish.tokens;
    p.kv_tokens = wish.kv_tokens;
    document->kind = Experiment{wish.head_roles, wish.feature_names};
    document->title = "made up";
    Shown shown;
    shown.document = document;
    shown.trace = Computation(document->problem).run();
    for (std::int64_t h = 0; h < wish.H; ++h) {
        analysis::HeadMetrics metrics;
        if (analysis::score_applies(analysis::HeadScore::distance, wish.Tq, wish.Tk, !p.cross()))
            metrics.set(analysis::HeadScore::distance, 0);
        metrics.set(analysis::HeadScore::entropy, 0.5F + 0.1F * static_cast<float>(h));
        metrics.set(analysis::HeadScore::confidence, 0);
        metrics.set(analysis::HeadScore::previous, h == 1 ? 0.85F : 0.1F);
        metrics.set(analysis::HeadScore::share, 1.0F / static_cast<float>(wish.H));
        if (h == 1)
            metrics.labelled = analysis::HeadScore::previous;
        shown.metrics.push_back(metrics);
    }
    return shown;
}

std::vector<Wish> many_wishes() {
    std::vector<Wish> out(1);
    out.push_back({.H = 4, .Hkv = 2, .dk = 2, .dv = 2, .biases = true, .mask = {CausalMask{}}});
    out.push_back({.H = 4, .Hkv = 1, .dk = 2, .dv = 3, .temperature = 0.5F});
    out.push_back({.B = 2,
                   .Tq = 3,
                   .Tk = 5,
                   .D = 6,
                   .Dkv = 7,
                   .H = 3,
                   .Hkv = 3,
                   .dk = 2,
                   .dv = 2,
                   .cross = true,
                   .biases = true,
                   .mask = {SlidingWindowCausalMask{2}},
                   .tokens = {"je", "suis", "là"},
                   .kv_tokens = {"I", "am", "here", "am", "."}});
    out.push_back({.biases = true,
                   .mask = {KeyPaddingMask{bools({1, 4}, {1, 1, 1, 0})}, SlidingWindowSymmetricMask{1}},
                   .gains = {1.0F, 0.5F}});
    // Query 1 may attend to nothing.
    out.push_back({.biases = true,
                   .mask = {ExplicitMask{bools({4, 4}, {1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0})}},
                   .gains = {0.0F, 1.0F}});
    const std::vector<float> add{0.5F, -1.25F, 0, -INFINITY, 0, 0, 0, 0, 1, 2, 3, 4, -1, -2, -3, -4};
    out.push_back({.mask = {AdditiveMask{make_tensor({4, 4}, add)}, CausalMask{}}});
    out.push_back({.Tq = 40,
                   .Tk = 40,
                   .D = 48,
                   .Dkv = 48,
                   .H = 12,
                   .Hkv = 12,
                   .dk = 4,
                   .dv = 4,
                   .tokens = numbered("Donaudampfschifffahrtsgesellschaft", 40)});
    out.push_back(
        {.Tq = 1, .Tk = 1, .D = 3, .Dkv = 3, .H = 1, .Hkv = 1, .dk = 3, .dv = 3, .tokens = {"one"}});
    out.push_back({.Tq = 3, .Tk = 3, .tokens = {"the", "the", "the"}, .scale = 300.0F});
    out.push_back({.Tq = 2, .Tk = 2, .tokens = {}, .scale = 1e6F});
    out.push_back({.Tq = 2,
                   .Tk = 2,
                   .D = 32,
                   .Dkv = 32,
                   .H = 1,
                   .Hkv = 1,
                   .dk = 24,
                   .dv = 32,
                   .biases = true,
                   .tokens = {"注意力機制注意力機制注意", "b"}});
    return out;
}

figure::TextMeasure approximate_measure() {
    return [](std::string_view text, figure::Font font, float size) {
        float width = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const auto byte = static_cast<unsigned char>(text[i]);
            if ((byte & 0xC0U) == 0x80U)
                continue;
            const bool mono = font == figure::Font::mono || font == figure::Font::mono_semibold;
            width += byte >= 0xE3U ? 1.0F : mono ? 0.6F : font == figure::Font::ui ? 0.5F : 0.54F;
        }
        return width * size;
    };
}

std::string all_text(const Picture& picture) {
    std::string out;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item))
            out += text->text + "\n";
    return out;
}

Action action_of(const Picture& picture, const std::string& label) {
    std::vector<Action> found;
    for (const Hotspot& hotspot : picture.hotspots)
        if (hotspot.label == label)
            found.push_back(hotspot.action);
    INFO("hotspot " << label);
    REQUIRE(found.size() == 1);
    return found[0];
}

} // namespace headscope::test
