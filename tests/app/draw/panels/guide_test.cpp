#include "app/draw/kit/format.h"
#include "app/draw/panels/guide_texts.h"
#include "app/draw/panels/panels.h"
#include "core/engine/engine.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

/// Returns the text without the parts between “ and ”: tokens and names may contain digits.
std::string without_quotes(const std::string& text) {
    const std::string open = "“", close = "”";
    std::string out;
    std::size_t at = 0;
    while (true) {
        const std::size_t begin = text.find(open, at);
        out += text.substr(at, begin == std::string::npos ? begin : begin - at);
        if (begin == std::string::npos)
            return out;
        at = text.find(close, begin) + close.size();
    }
}

/// Every number in a text, as printed, with its minus sign.
std::set<std::string> numbers_in(const std::string& text) {
    const std::string minus = "−";
    std::set<std::string> out;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t begin = i;
        std::string sign;
        if (text.compare(i, minus.size(), minus) == 0) {
            sign = minus;
            begin = i + minus.size();
        }
        std::size_t end = begin;
        while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 ||
                                     (text[end] == '.' && end + 1 < text.size() &&
                                      std::isdigit(static_cast<unsigned char>(text[end + 1])) != 0) ||
                                     (end > begin && text.compare(end, 2, "e+") == 0)))
            end += text.compare(end, 2, "e+") == 0 ? 2 : 1;
        if (end > begin)
            out.insert(sign + text.substr(begin, end - begin));
        i = std::max(end, i + 1);
    }
    return out;
}

/// The numbers that the text of a stage may contain, from the trace by other means than the guide's; `must`
/// has to be there.
struct Expected {
    std::set<std::string> may, must;

    void count(std::int64_t n) { may.insert(std::to_string(n)); }
    void value(float v) { must.insert(number(static_cast<double>(v), 2)); }
};

struct Place {
    std::int64_t h, i;
};

Expected expected(const Shown& s, StageGroup group, const Place& p) {
    const Dims& d = s.dims();
    const auto& t = *s.trace;
    const auto row = [&](TensorId id) {
        return t.stage(id)->values().subspan(static_cast<std::size_t>((p.h * d.Tq + p.i) * d.Tk),
                                             static_cast<std::size_t>(d.Tk));
    };
    Expected e;
    e.count(p.h);
    // Of `width` numbers from `first` on, the place of the one with the largest size: what the page marks.
    const auto marked = [](std::span<const float> numbers, std::int64_t first, std::int64_t width) {
        const auto part = numbers.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(width));
        return std::ranges::max_element(part, {}, [](float v) { return std::abs(v); }) - part.begin();
    };
    const auto last_column = [&](std::int64_t width) { e.count((p.h + 1) * width - 1); };
    switch (group) {
    case StageGroup::x: {
        const auto x = t.stage(TensorId::x)
                           ->values()
                           .subspan(static_cast<std::size_t>(p.i * d.D), static_cast<std::size_t>(d.D));
        e = {};
        e.count(d.Tq), e.count(d.D), e.count(d.Tk);
        e.count(std::ranges::max_element(x) - x.begin());
        e.value(*std::ranges::max_element(x));
        break;
    }
    case StageGroup::qkv: {
        const Tensor& q = *t.stage(TensorId::q);
        const std::int64_t first = (p.i * d.H + p.h) * d.dk, place = marked(q.values(), first, d.dk);
        e.count(p.h * d.dk + place), e.count(d.D), e.count(d.H), e.count(d.Hkv);
        e.value(q.data()[first + place]);
        break;
    }
    case StageGroup::split: {
        const Tensor& q = *t.stage(TensorId::q);
        const std::int64_t first = (p.i * d.H + p.h) * d.dk, place = marked(q.values(), first, d.dk);
        for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, d.dk, d.dk - 1, 2 * d.dk - 1, d.H,
                                     d.H * d.dk, place, p.h * d.dk + place, d.Hkv, d.H / d.Hkv})
            e.count(n);
        e.value(q.data()[first + place]);
        break;
    }
    case StageGroup::scores:
        e.count(d.dk), e.count(d.H);
        e.value(std::ranges::max(row(TensorId::scores)));
        e.value(std::ranges::min(row(TensorId::scores)));
        break;
    case StageGroup::scaled: {
        const double root = std::sqrt(static_cast<double>(d.dk));
        e.count(d.dk);
        e.may.insert(
            {number(root, 0), number(root, 2), number(static_cast<double>(s.problem().temperature), 2)});
        e.value(std::ranges::max(row(TensorId::scores)));
        e.value(std::ranges::max(row(TensorId::scaled)));
        break;
    }
    case StageGroup::masked: {
        const auto closed =
            std::ranges::count_if(row(TensorId::masked), [](float v) { return std::isinf(v); });
        e.count(0), e.count(d.Tk), e.count(d.Tk - closed);
        if (closed != 0 && closed != d.Tk)
            e.must.insert(std::to_string(d.Tk - closed));
        break;
    }
    case StageGroup::weights: {
        const auto weights = row(TensorId::weights);
        const float top = std::ranges::max(weights);
        double rest = -static_cast<double>(top);
        for (const float w : weights)
            rest += static_cast<double>(w);
        e.count(0), e.count(1), e.count(d.Tk), e.count(d.Tk - 1),
            e.count(std::ranges::count(weights, top) - 1);
        for (const int decimals : {2, 3, 4}) {
            e.may.insert(number(static_cast<double>(top), decimals));
            e.may.insert(number(rest, decimals));
        }
        break;
    }
    case StageGroup::head_out: {
        const auto weights = row(TensorId::weights);
        const auto j = std::ranges::max_element(weights) - weights.begin();
        const auto w = static_cast<double>(weights[static_cast<std::size_t>(j)]);
        const Tensor& out = *t.stage(TensorId::head_out);
        const std::int64_t first = (p.h * d.Tq + p.i) * d.dv, place = marked(out.values(), first, d.dv);
        const auto v = static_cast<double>(t.stage(TensorId::v_heads)->at(0, p.h / (d.H / d.Hkv), j, place));
        e.count(place), e.count(0), e.count(1), e.count(d.Tk), e.count(d.dv);
        for (const int decimals : {2, 3, 4})
            e.may.insert({number(w, decimals), number(v, decimals), number(w * v, decimals)});
        if (w > 0)
            e.value(out.data()[first + place]);
        break;
    }
    case StageGroup::concat: {
        const Tensor& concat = *t.stage(TensorId::concat);
        const std::int64_t first = (p.i * d.H + p.h) * d.dv, place = marked(concat.values(), first, d.dv);
        e.count(d.H), e.count(d.dv), e.count(d.H * d.dv), e.count(p.h * d.dv + place), e.count(place);
        e.may.insert(number(static_cast<double>(s.problem().gain(p.h)), 2));
        e.value(concat.data()[first + place]);
        break;
    }
    case StageGroup::contributions:
    case StageGroup::output: {
        const auto out = t.stage(TensorId::output)
                             ->values()
                             .subspan(static_cast<std::size_t>(p.i * d.D), static_cast<std::size_t>(d.D));
        const Tensor& parts = *t.stage(TensorId::contributions);
        const auto c = group == StageGroup::output ? marked(out, 0, d.D)
                                                   : marked(parts.values(), (p.h * d.Tq + p.i) * d.D, d.D);
        e.count(c), e.count(1), e.count(d.H), e.count(d.H - 1), e.count(p.h * d.dv), last_column(d.dv);
        e.value(parts.at(0, p.h, p.i, c));
        if (group == StageGroup::output) {
            e.value(out[static_cast<std::size_t>(c)]);
            break;
        }
        double others = 0;
        for (std::int64_t h = 0; h < d.H; ++h)
            others += h == p.h ? 0.0 : static_cast<double>(parts.at(0, h, p.i, c));
        e.count(1 - p.h), e.count(0);
        if (d.H > 1)
            e.must.insert(number(others, 2));
        e.may.insert(number(1.0 / static_cast<double>(d.H), 2));
        break;
    }
    default: // around attention, which no preset has
        break;
    }
    e.may.insert(e.must.begin(), e.must.end());
    return e;
}

std::string joined(const GuideText& text) {
    std::string out = text.heading;
    for (const std::string& paragraph : text.paragraphs)
        out += "\n" + paragraph;
    return out + "\n" + text.try_it;
}

ViewState at_stage(int group, std::int64_t row = -1, std::int64_t head = 0) {
    ViewState view;
    view.group = static_cast<StageGroup>(group);
    view.row = row;
    view.head = head;
    return view;
}

} // namespace

TEST_CASE("every number in the guide is the trace's", "[guide]") {
    const std::vector<Wish> wishes = many_wishes();
    for (std::size_t w = 0; w < wishes.size(); ++w) {
        if (wishes[w].tokens.empty())
            continue; // labels would be numbers themselves
        const Shown shown = make_shown(wishes[w]);
        for (int group = 0; group < group_count; ++group)
            for (std::int64_t row = 0; row < std::min<std::int64_t>(shown.dims().Tq, 4); ++row)
                for (std::int64_t head = 0; head < std::min<std::int64_t>(shown.dims().H, 4); ++head) {
                    const ViewState view = at_stage(group, row, head);
                    const std::string text = joined(guide_text(shown, view));
                    const std::set<std::string> found = numbers_in(without_quotes(text));
                    const Expected want = expected(shown, view.group, {head, row});
                    INFO("problem " << w << ", row " << row << ", head " << head << ":\n" << text);
                    for (const std::string& n : found) {
                        INFO("number " << n);
                        CHECK(want.may.contains(n));
                    }
                    for (const std::string& n : want.must) {
                        INFO("lacks " << n);
                        CHECK(found.contains(n));
                    }
                }
    }
}

TEST_CASE("the guide names the token that is read most", "[guide]") {
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U}) {
        const Shown shown = make_shown({.seed = seed});
        const auto& weights = *shown.trace->stage(TensorId::weights);
        for (std::int64_t i = 0; i < 4; ++i) {
            std::int64_t best = 0;
            for (std::int64_t j = 1; j < 4; ++j)
                best = weights.at(0, 1, i, j) > weights.at(0, 1, i, best) ? j : best;
            const auto& tokens = shown.problem().tokens;
            const std::string text =
                joined(guide_text(shown, at_stage(static_cast<int>(StageGroup::weights), i, 1)));
            CHECK(text.find("Read the row of “" + tokens[static_cast<std::size_t>(i)] +
                            "” in head 1. It gives “" + tokens[static_cast<std::size_t>(best)] +
                            "” a weight of ") != std::string::npos);
        }
    }
}

TEST_CASE("the guide is honest about ties, single tokens and rows without keys", "[guide]") {
    const int group = static_cast<int>(StageGroup::weights);
    // All scores are 0 when x is 0: every weight is a quarter.
    const Shown even = make_shown({.scale = 0.0F});
    CHECK(joined(guide_text(even, at_stage(group))).find("It reads all 4 keys equally, 0.25 each.") !=
          std::string::npos);
    const Shown half = make_shown({.mask = {SlidingWindowCausalMask{2}}, .scale = 0.0F});
    CHECK(joined(guide_text(half, at_stage(group)))
              .find("Its largest weight, 0.50, goes to “cat” and, with the same value, to 1 more.") !=
          std::string::npos);
    const Shown one = make_shown({.Tq = 1, .Tk = 1, .tokens = {"one"}});
    CHECK(joined(guide_text(one, at_stage(group))).find("With one key there is no choice") !=
          std::string::npos);
    const Shown empty = make_shown(many_wishes()[5]);
    CHECK(joined(guide_text(empty, at_stage(group, 1))).find("no key to read") != std::string::npos);
    CHECK(
        joined(guide_text(empty, at_stage(static_cast<int>(StageGroup::masked), 1))).find("no key at all") !=
        std::string::npos);
    CHECK(joined(guide_text(make_shown({}), at_stage(static_cast<int>(StageGroup::masked))))
              .find("No mask is set") != std::string::npos);
}

TEST_CASE("the guide tells a head's role only where there is one", "[guide]") {
    const int group = static_cast<int>(StageGroup::weights);
    const Shown built = make_shown({.head_roles = {"verb → subject", ""}});
    CHECK(joined(guide_text(built, at_stage(group, -1, 0))).find("built for: verb → subject.") !=
          std::string::npos);
    CHECK(joined(guide_text(built, at_stage(group, -1, 1))).find("built for") == std::string::npos);
    // The conclusions of the made-up metrics for head 1.
    CHECK(joined(guide_text(built, at_stage(group, -1, 1))).find("mostly reads: previous token") !=
          std::string::npos);
}

TEST_CASE("the guide fits the narrow panel of a small window and its buttons step", "[guide]") {
    const Shown shown = make_shown({.head_roles = {"verb → subject", "previous token"}});
    const figure::TextMeasure measure = approximate_measure();
    for (int group = 0; group < group_count; ++group) {
        const ViewState view = at_stage(group);
        const Picture picture = draw_guide({shown, view, theme(true), measure, 312, 560});
        INFO(all_text(picture));
        CHECK(picture.scene.height == 560.0F);
        CHECK(all_text(picture).find("Stage " + std::to_string(group + 1) + " of 11") != std::string::npos);
        if (group > 0)
            CHECK(std::get<StepStage>(std::get<ViewChange>(action_of(picture, "Back"))).by == -1);
        if (group + 1 < group_count)
            CHECK(std::get<StepStage>(std::get<ViewChange>(action_of(picture, "Next"))).by == 1);
        else
            CHECK(std::get<ShowTab>(std::get<ViewChange>(action_of(picture, "Take the course"))).tab ==
                  LeftTab::course);
        unsigned buttons = 0;
        for (const Hotspot& spot : picture.hotspots) {
            if (std::holds_alternative<WindowAction>(spot.action)) { // a word of the glossary
                CHECK(spot.area.bottom() < 504);
                CHECK_FALSE(spot.tip.empty());
                continue;
            }
            ++buttons;
            CHECK(spot.area.y == 504.0F);
        }
        CHECK(buttons == (group == 0 ? 1U : 2U));
    }
}

TEST_CASE("the guide does not follow the pointer", "[guide]") {
    const Shown shown = make_shown({});
    ViewState view = at_stage(static_cast<int>(StageGroup::weights));
    const std::string before = joined(guide_text(shown, view));
    view.hover = CellAddress{TensorId::weights, {0, 1, 0, 3}};
    CHECK(joined(guide_text(shown, view)) == before);
}

TEST_CASE("the first lesson's guide fits the narrow panel and reads as built", "[guide]") {
    project::Recipe recipe;
    recipe.sentence = "The cat sat down";
    Shown shown;
    shown.document = make_document(recipe, 1);
    shown.trace = std::make_shared<const Trace>(engine::make_engine("cpu")->run(shown.problem()));
    const figure::TextMeasure measure = approximate_measure();
    for (int group = 0; group < group_count; ++group) {
        const ViewState view = at_stage(group);
        CHECK(draw_guide({shown, view, theme(false), measure, 312, 560}).scene.height == 560.0F);
    }
    // The verb attends to its subject, and head 1 to the previous word.
    const int weights = static_cast<int>(StageGroup::weights);
    CHECK(
        joined(guide_text(shown, at_stage(weights, 2, 0))).find("in head 0. It gives “cat” a weight of 0.") !=
        std::string::npos);
    CHECK(
        joined(guide_text(shown, at_stage(weights, 3, 1))).find("in head 1. It gives “sat” a weight of 0.") !=
        std::string::npos);
}
