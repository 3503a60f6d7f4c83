#include "app/draw/kit/format.h"
#include "app/draw/panels/panels.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/conformance/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

constexpr float pad = 24.0F;

/// One row of the panel: its first text, and the number on the right edge.
struct Row {
    float y = 0;
    std::string name, result;
    bool bold = false;
};
struct Section {
    std::string name;
    std::vector<Row> rows;
};

bool is_heading(const figure::TextItem& text) {
    return text.font == figure::Font::ui_semibold && text.size == 13.5F && text.at.x == pad;
}

std::vector<Section> sections_of(const Picture& picture) {
    std::vector<Section> out;
    for (const figure::SceneItem& item : picture.scene.items) {
        const auto* text = std::get_if<figure::TextItem>(&item);
        if (text == nullptr)
            continue;
        if (is_heading(*text)) {
            out.push_back({text->text, {}});
            continue;
        }
        if (out.empty())
            continue;
        std::vector<Row>& rows = out.back().rows;
        if (rows.empty() || std::abs(rows.back().y - text->at.y) > 8)
            rows.push_back({.y = text->at.y, .name = {}, .result = {}});
        if (text->align == figure::Align::right && text->at.x == picture.scene.width - pad) {
            rows.back().result = text->text;
            rows.back().bold = text->font == figure::Font::mono_semibold;
        } else if (rows.back().name.empty()) {
            rows.back().name = text->text;
        }
    }
    return out;
}

struct Printed {
    double value = 0;
    int decimals = 0;
    bool approximate = false;
};

std::optional<Printed> printed(std::string text) {
    Printed out;
    const auto strip = [&](const std::string& prefix, const std::string& with) {
        if (!text.starts_with(prefix))
            return false;
        text = with + text.substr(prefix.size());
        return true;
    };
    out.approximate = strip("≈ ", "");
    strip("+", "");
    strip("−", "-");
    char* end = nullptr;
    out.value = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size())
        return std::nullopt;
    const auto point = text.find('.');
    const auto exponent = std::min(text.find('e'), text.size());
    out.decimals = point == std::string::npos ? 0 : static_cast<int>(exponent - point - 1);
    return out;
}

/// A line with "=" must hold for the digits on screen; one with "≈" must not, and be off by rounding alone.
/// Where there is room (`wide`), "≈" comes only after four decimals were tried.
void check_line(const std::vector<double>& terms, const Printed& total, bool wide) {
    double sum = 0, size = 1;
    for (const double term : terms) {
        sum += term;
        size = std::max(size, std::abs(term));
    }
    const bool holds = std::abs(sum - total.value) < 1e-10 * size;
    CHECK(holds != total.approximate);
    if (size < 1e4) {
        const auto count = static_cast<double>(terms.size() + 1);
        CHECK(std::abs(sum - total.value) <= 0.5001 * count * std::pow(10.0, -total.decimals));
        CHECK((!total.approximate || total.decimals == 4 || !wide));
    }
}

/// Reads the terms of a sum off the panel and checks every sub-total and the total. Returns the total.
std::optional<Printed> check_sum(const Section& section, bool wide) {
    std::vector<double> terms, outer;
    for (const Row& row : section.rows) {
        const auto value = printed(row.result);
        if (!value)
            continue;
        INFO(section.name << " / " << row.name << " = " << row.result);
        if (!row.bold) {
            terms.push_back(value->value);
        } else if (row.name.starts_with("Head ")) {
            check_line(terms, *value, wide);
            outer.push_back(value->value);
            terms.clear();
        } else {
            outer.insert(outer.end(), terms.begin(), terms.end());
            check_line(outer, *value, wide);
            return value;
        }
    }
    return std::nullopt;
}

const Section* find(const std::vector<Section>& sections, const std::string& name) {
    const auto found = std::ranges::find(sections, name, &Section::name);
    return found == sections.end() ? nullptr : &*found;
}

figure::Rect box_of(const figure::TextItem& text, const figure::TextMeasure& measure) {
    const float width = measure(text.text, text.font, text.size);
    const float x = text.at.x - (text.align == figure::Align::right    ? width
                                 : text.align == figure::Align::center ? width / 2
                                                                       : 0);
    return {x, text.at.y - 0.72F * text.size, width, 0.9F * text.size};
}

void check_layout(const Picture& picture, float width) {
    const figure::TextMeasure measure = approximate_measure();
    std::vector<std::pair<figure::Rect, std::string>> boxes;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item))
            boxes.emplace_back(box_of(*text, measure), text->text);
    for (std::size_t a = 0; a < boxes.size(); ++a) {
        const auto& [box, text] = boxes[a];
        if (box.x < 0 || box.right() > width + 0.5F || box.y < 0 || box.bottom() > picture.scene.height)
            FAIL_CHECK("“" << text << "” sticks out: " << box.x << " to " << box.right() << " of " << width);
        for (std::size_t b = a + 1; b < boxes.size(); ++b) {
            const figure::Rect& other = boxes[b].first;
            const bool apart = box.right() <= other.x + 0.5F || other.right() <= box.x + 0.5F ||
                               box.bottom() <= other.y + 0.5F || other.bottom() <= box.y + 0.5F;
            if (!apart)
                FAIL_CHECK("“" << text << "” and “" << boxes[b].second << "” overlap at " << box.x << ", "
                               << box.y);
        }
    }
}

/// First, last and two middle cells.
std::vector<Index> some_cells(const Shape& shape) {
    std::vector<Index> out;
    for (const auto& [n, d] : {std::pair{0, 1}, {1, 3}, {1, 2}, {1, 1}}) {
        Index at{};
        for (int axis = 0; axis < shape.rank(); ++axis)
            at[static_cast<std::size_t>(axis)] = (shape[axis] - 1) * n / d;
        out.push_back(at);
    }
    return out;
}

Picture inspect(const Shown& shown, const CellAddress& cell, float width,
                HeadsView heads_view = HeadsView::each) {
    ViewState view;
    view.selected = cell;
    view.heads_view = heads_view;
    const figure::TextMeasure measure = approximate_measure();
    return draw_inspector({shown, view, theme(false), measure, width, 800});
}

/// Calls `check` for some cells of every stage and every input of every made-up problem.
template<class Check>
void for_every_tensor(const Check& check) {
    const std::vector<Wish> wishes = many_wishes();
    for (std::size_t w = 0; w < wishes.size(); ++w) {
        const Shown shown = make_shown(wishes[w]);
        for (int id = 0; id < tensor_count; ++id) {
            const Tensor* tensor = shown.tensor(static_cast<TensorId>(id));
            if (tensor == nullptr)
                continue;
            for (const Index& at : some_cells(tensor->shape())) {
                const CellAddress cell{static_cast<TensorId>(id), at};
                INFO("problem " << w << ", " << address_text(shown, cell));
                check(shown, cell);
            }
        }
    }
}

/// The section whose total is the cell itself.
std::string summed_in(TensorId id) {
    static const std::map<TensorId, std::string> names{
        {TensorId::q, "Term by term"},      {TensorId::k, "Term by term"},
        {TensorId::v, "Term by term"},      {TensorId::q_heads, "Comes from"},
        {TensorId::k_heads, "Comes from"},  {TensorId::v_heads, "Comes from"},
        {TensorId::scores, "Dot product"},  {TensorId::head_out, "Weighted sum"},
        {TensorId::output, "Term by term"}, {TensorId::contributions, "Term by term"}};
    const auto found = names.find(id);
    return found == names.end() ? "" : found->second;
}

} // namespace

TEST_CASE("nothing in the inspector overlaps or sticks out", "[inspector]") {
    const float width = GENERATE(280.0F, 328.0F, 420.0F);
    for_every_tensor([&](const Shown& shown, const CellAddress& cell) {
        check_layout(inspect(shown, cell, width), width);
        check_layout(inspect(shown, cell, width, HeadsView::difference), width);
    });
}

TEST_CASE("every sum in the inspector adds up as printed and ends in the trace's value", "[inspector]") {
    const float width = GENERATE(280.0F, 420.0F);
    for_every_tensor([&](const Shown& shown, const CellAddress& cell) {
        const std::vector<Section> sections = sections_of(inspect(shown, cell, width));
        REQUIRE_FALSE(sections.empty());
        for (const char* name :
             {"Dot product", "Weighted sum", "Term by term", "Contribution per head", "Average over heads"})
            if (const Section* section = find(sections, name))
                CHECK(check_sum(*section, width > 400));
        const std::string own = summed_in(cell.tensor);
        if (own.empty() ||
            (cell.tensor == TensorId::contributions && shown.problem().gain(cell.at[1]) != 1.0F))
            return;
        const Section* section = find(sections, own);
        REQUIRE(section != nullptr);
        const auto total = check_sum(*section, width > 400);
        REQUIRE(total);
        const auto value = printed(number(static_cast<double>(shown.value(cell)), total->decimals));
        CHECK(total->value == value->value);
    });
}

TEST_CASE("the value at the top is the trace's", "[inspector]") {
    for_every_tensor([](const Shown& shown, const CellAddress& cell) {
        const Picture picture = inspect(shown, cell, 420);
        const auto value = static_cast<double>(shown.value(cell));
        bool found = false;
        for (const figure::SceneItem& item : picture.scene.items)
            if (const auto* text = std::get_if<figure::TextItem>(&item);
                text != nullptr && text->size == 34.0F) {
                const auto shown_value = printed(text->text);
                found = text->text == "−∞"
                            ? std::isinf(value)
                            : shown_value && text->text == number(value, shown_value->decimals);
            }
        CHECK(found);
    });
}

TEST_CASE("the last line of softmax, scale, gain and mean gives the trace's value", "[inspector]") {
    const std::map<TensorId, std::string> last{{TensorId::weights, "Softmax"},
                                               {TensorId::scaled, "Scale"},
                                               {TensorId::masked, "Mask"},
                                               {TensorId::weights_mean, "Average over heads"},
                                               {TensorId::contributions, "Head gain"},
                                               {TensorId::concat, "Comes from"}};
    int checked = 0;
    for_every_tensor([&](const Shown& shown, const CellAddress& cell) {
        const auto name = last.find(cell.tensor);
        if (name == last.end())
            return;
        const std::vector<Section> sections = sections_of(inspect(shown, cell, 328));
        const Section* section = find(sections, name->second);
        if (section == nullptr || section->rows.empty())
            return; // without head gain
        const auto line = std::ranges::find_if(section->rows.rbegin(), section->rows.rend(),
                                               [](const Row& row) { return row.bold; });
        if (line == section->rows.rend())
            return; // no mask, or a row without keys
        const auto value = static_cast<double>(shown.value(cell));
        if (std::isinf(value)) {
            CHECK(line->result == "−∞");
            return;
        }
        const auto result = printed(line->result);
        INFO(line->name << " = " << line->result);
        REQUIRE(result);
        CHECK(result->value == printed(number(value, result->decimals))->value);
        ++checked;
    });
    CHECK(checked > 60);
}

TEST_CASE("the softmax table lists the row's keys and its weights add up", "[inspector]") {
    const Shown shown = make_shown({});
    const Picture picture = inspect(shown, {TensorId::weights, {0, 0, 2, 1}}, 328);
    const std::vector<Section> sections = sections_of(picture);
    const Section* softmax = find(sections, "Softmax");
    REQUIRE(softmax != nullptr);
    double sum = 0;
    int keys = 0;
    for (const Row& row : softmax->rows)
        for (std::size_t j = 0; j < 4; ++j)
            if (row.name == shown.problem().tokens[j]) {
                const auto weight = printed(row.result);
                CHECK(row.result ==
                      number(static_cast<double>(shown.trace->stage(TensorId::weights)->at(0, 0, 2, j)),
                             weight->decimals));
                CHECK(row.bold == (j == 1));
                sum += weight->value;
                ++keys;
            }
    CHECK(keys == 4);
    CHECK(sum == Approx(1.0).margin(1e-9));
}

TEST_CASE("norms across the heads, limits and sinks are written out and end in the trace's values",
          "[inspector]") {
    Shown shown = make_shown({.mask = {CausalMask{}}});
    auto document = std::make_shared<Document>(*shown.document);
    Problem& problem = document->problem;
    Numbers numbers(4);
    problem.weights.q_norm_all = numbers.tensor({8}, 1);
    problem.weights.k_norm_all = numbers.tensor({8}, 1);
    problem.weights.sink = numbers.tensor({2}, 1);
    problem.qkv_limit = 0.5F;
    shown.document = document;
    shown.trace = std::make_shared<const Trace>(reference_trace(problem));
    const auto check_end = [&](const CellAddress& cell, const char* name) {
        const std::vector<Section> sections = sections_of(inspect(shown, cell, 328));
        const Section* section = find(sections, name);
        REQUIRE(section != nullptr);
        const auto end = std::ranges::find_if(section->rows.rbegin(), section->rows.rend(),
                                              [](const Row& row) { return row.bold; });
        REQUIRE(end != section->rows.rend());
        const auto result = printed(end->result);
        CHECK(result->value ==
              printed(number(static_cast<double>(shown.value(cell)), result->decimals))->value);
    };
    for (std::int64_t c = 0; c < 4; ++c)
        check_end({TensorId::q_normed, {0, 1, 2, c}}, "Normed");
    int limited = 0;
    for (std::int64_t c = 0; c < 8; ++c)
        if (const CellAddress cell{TensorId::v, {0, 1, c}}; std::abs(shown.value(cell)) == 0.5F) {
            check_end(cell, "Limit");
            ++limited;
        }
    CHECK(limited > 0);
    const CellAddress weight{TensorId::weights, {0, 1, 2, 1}};
    check_end(weight, "Softmax");
    const std::vector<Section> sections = sections_of(inspect(shown, weight, 328));
    const std::vector<Row>& rows = find(sections, "Softmax")->rows;
    const auto sink = std::ranges::find(rows, "sink", &Row::name);
    REQUIRE(sink != rows.end());
    double keys = 0;
    for (std::int64_t j = 0; j < 4; ++j)
        keys += static_cast<double>(shown.value({TensorId::weights, {0, 1, 2, j}}));
    CHECK(keys < 0.99);
    CHECK(printed(sink->result)->value == Approx(1 - keys).margin(0.006));
}

TEST_CASE("terms by relative position are written out and end in the trace's values", "[inspector]") {
    using enum TensorId;
    Shown shown = make_shown({.biases = true});
    auto document = std::make_shared<Document>(*shown.document);
    Problem& problem = document->problem;
    Numbers numbers(5);
    problem.relative = RelativeTerms{{.span = 3}, true, true};
    problem.dims.distances = 6;
    problem.rel_positions = numbers.tensor({6, 8}, 1);
    problem.weights.W_QR = numbers.tensor({8, 8}, 1);
    problem.weights.b_QR = numbers.tensor({8}, 1);
    shown.document = document;
    shown.trace = std::make_shared<const Trace>(reference_trace(problem));
    const std::pair<TensorId, const char*> sections[] = {{pos_keys, "Term by term"},
                                                         {pos_queries, "Term by term"},
                                                         {c2p, "Relative position"},
                                                         {p2c, "Relative position"},
                                                         {scores, "Dot product"}};
    for (const auto& [id, name] : sections)
        for (const Index& at : some_cells(shown.tensor(id)->shape())) {
            const CellAddress cell{id, at};
            INFO(address_text(shown, cell));
            const Picture picture = inspect(shown, cell, 328);
            check_layout(picture, 328);
            const std::vector<Section> found = sections_of(picture);
            const Section* section = find(found, name);
            REQUIRE(section != nullptr);
            const auto total = check_sum(*section, true);
            REQUIRE(total);
            CHECK(total->value ==
                  printed(number(static_cast<double>(shown.value(cell)), total->decimals))->value);
        }
    // The query reads the row of i − j = −2, which is 3 − 2.
    CHECK(all_text(inspect(shown, {c2p, {0, 1, 1, 3}}, 328)).find("row 1 of pos_keys, i − j = -2") !=
          std::string::npos);
}

TEST_CASE("long sums show the largest terms and one line for the rest", "[inspector]") {
    const Shown shown = make_shown({.D = 48, .Dkv = 48});
    const Picture picture = inspect(shown, {TensorId::q, {0, 1, 2, 0}}, 328);
    CHECK(all_text(picture).find("… 36 more, together") != std::string::npos);
    const auto& x = *shown.problem().x;
    const auto& W = *shown.problem().weights.W_Q;
    std::size_t largest = 0;
    for (std::size_t d = 1; d < 48; ++d)
        if (std::abs(x.at(0, 1, d) * W.at(d, 2)) > std::abs(x.at(0, 1, largest) * W.at(largest, 2)))
            largest = d;
    const std::vector<Section> sections = sections_of(picture);
    CHECK(std::ranges::count(find(sections, "Term by term")->rows, std::to_string(largest), &Row::name) == 1);
}

TEST_CASE("masks are told rule by rule", "[inspector]") {
    const Shown causal = make_shown({.mask = {CausalMask{}}});
    const std::string closed = all_text(inspect(causal, {TensorId::weights, {0, 0, 1, 3}}, 328));
    CHECK(closed.find("causal: down is 2 after cat") != std::string::npos);
    CHECK(closed.find("forbidden") != std::string::npos);
    const std::string open = all_text(inspect(causal, {TensorId::masked, {0, 0, 2, 0}}, 328));
    CHECK(open.find("causal: The is 2 before sat") != std::string::npos);
    CHECK(open.find("forbidden") == std::string::npos);

    // The words and the masked scores, which this test's own rules decided, must agree everywhere.
    for (const Wish& wish : many_wishes()) {
        if (wish.mask.empty())
            continue;
        const Shown shown = make_shown(wish);
        for (std::int64_t i = 0; i < wish.Tq; ++i)
            for (std::int64_t j = 0; j < wish.Tk; ++j) {
                const CellAddress cell{TensorId::masked, {0, 0, i, j}};
                const std::string text = all_text(inspect(shown, cell, 328));
                const bool forbidden = text.find("\nforbidden\n") != std::string::npos;
                CHECK(forbidden == std::isinf(shown.value(cell)));
            }
    }
}

TEST_CASE("a row without keys, a gain of 0 and the bias that is left are said plainly", "[inspector]") {
    const Wish wish = many_wishes()[5];
    const Shown shown = make_shown(wish);
    REQUIRE(shown.trace->fully_masked.size() == 2);
    const auto says = [&](TensorId id, const Index& at, const std::string& words) {
        // Paragraphs are wrapped: line breaks count as spaces.
        std::string text = all_text(inspect(shown, {id, at}, 420));
        std::ranges::replace(text, '\n', ' ');
        return text.find(words) != std::string::npos;
    };
    CHECK(says(TensorId::weights, {0, 0, 1, 0}, "No key is allowed in this row"));
    CHECK_FALSE(says(TensorId::weights, {0, 0, 2, 0}, "No key is allowed in this row"));
    CHECK(says(TensorId::head_out, {0, 1, 1, 0}, "every weight is 0"));
    CHECK(says(TensorId::output, {0, 1, 3, 0}, "only b_O is left"));
    CHECK_FALSE(says(TensorId::output, {0, 2, 3, 0}, "only b_O is left"));
    CHECK(says(TensorId::output, {0, 2, 3, 0}, "Head 0, ablated"));
    CHECK(says(TensorId::concat, {0, 2, 1, 0}, "The gain of this head is 0: it is ablated"));
}

TEST_CASE("shared key/value heads and the comparison of heads name the right ones", "[inspector]") {
    const Shown shared = make_shown({.H = 4, .Hkv = 2, .dk = 2, .dv = 2});
    CHECK(all_text(inspect(shared, {TensorId::k_heads, {0, 1, 2, 1}}, 328)).find("heads 2 to 3 share it") !=
          std::string::npos);
    // Query head 3 reads key head 1: its k column must be that head's.
    const Picture dot = inspect(shared, {TensorId::scores, {0, 3, 0, 2}}, 420);
    const std::string first =
        number(static_cast<double>(shared.trace->stage(TensorId::k_heads)->at(0, 1, 2, 0)), 2);
    CHECK(all_text(dot).find(first.substr(0, first.size() - 1)) != std::string::npos);

    const Shown shown = make_shown({});
    const CellAddress cell{TensorId::weights, {0, 0, 2, 1}};
    const std::vector<Section> sections = sections_of(inspect(shown, cell, 328, HeadsView::difference));
    const Section* compared = find(sections, "Compared with head 1");
    REQUIRE(compared != nullptr);
    const auto& weights = *shown.trace->stage(TensorId::weights);
    const auto result = printed(compared->rows.back().result);
    CHECK(result->value ==
          printed(signed_number(static_cast<double>(weights.at(0, 0, 2, 1)) - weights.at(0, 1, 2, 1),
                                result->decimals))
              ->value);
    CHECK(find(sections_of(inspect(shown, cell, 328)), "Compared with head 1") == nullptr);
}
