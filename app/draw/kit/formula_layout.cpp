#include "app/draw/kit/formula_layout.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float ascent_of = 0.76F, descent_of = 0.22F; // fractions of the text size, equal for every line
constexpr float smallest_script = 10.0F;

class Setter {
public:
    Setter(const DrawContext& context, figure::Color color) : context_(context), color_(color) {}

    FormulaBox set(const lesson::Formula& formula, float size) const {
        switch (formula.kind) {
        case lesson::Formula::Kind::row:
            return row(formula.parts, size);
        case lesson::Formula::Kind::symbol:
        case lesson::Formula::Kind::text:
            return letters(formula.text, size);
        case lesson::Formula::Kind::scripts:
            return scripts(formula, size);
        case lesson::Formula::Kind::fraction:
            return fraction(formula, size);
        case lesson::Formula::Kind::root:
            return root(formula, size);
        case lesson::Formula::Kind::matrix:
            return matrix(formula, size);
        case lesson::Formula::Kind::fence:
            return fence(formula, size);
        }
        return {};
    }

private:
    static bool wide_sign(const std::string& text) {
        for (const std::string_view sign :
             {"=", "+", "−", "·", "×", "≈", "→", "≤", "≥", "<", ">", "∈", "÷", "⊙"})
            if (text == sign)
                return true;
        return false;
    }

    FormulaBox letters(const std::string& text, float size) const {
        FormulaBox box;
        const float gap = wide_sign(text) ? size * 0.22F : text == "," ? size * 0.05F : 0;
        const float width = context_.measure(text, figure::Font::ui, size);
        add_text(box.scene, {gap, 0}, text, figure::Font::ui, size, color_);
        box.width = width + 2 * gap + (text == "," ? size * 0.2F : 0);
        box.ascent = size * ascent_of;
        box.descent = size * descent_of;
        return box;
    }

    static void join(FormulaBox& into, const FormulaBox& part, float dx, float dy) {
        into.scene.append(part.scene, dx, dy);
        into.width = std::max(into.width, dx + part.width);
        into.ascent = std::max(into.ascent, part.ascent - dy);
        into.descent = std::max(into.descent, part.descent + dy);
    }

    FormulaBox row(const std::vector<lesson::Formula>& parts, float size) const {
        FormulaBox box;
        for (const lesson::Formula& part : parts)
            join(box, set(part, size), box.width, 0);
        return box;
    }

    static bool empty(const lesson::Formula& formula) {
        return formula.parts.empty() && formula.text.empty();
    }

    FormulaBox scripts(const lesson::Formula& formula, float size) const {
        FormulaBox box = set(formula.parts[0], size);
        const float small = std::max(size * 0.72F, smallest_script);
        const float at = box.width + size * 0.04F;
        const bool sum = formula.parts[0].text == "Σ";
        const float base_ascent = box.ascent, base_descent = box.descent;
        if (!empty(formula.parts[1])) {
            const FormulaBox below = set(formula.parts[1], small);
            if (sum) // the limits of a sum are below and above the sign
                join(box, below, std::max(0.0F, (at - below.width) / 2), base_descent + below.ascent);
            else
                join(box, below, at, std::max(size * 0.24F, base_descent - size * 0.05F));
        }
        if (!empty(formula.parts[2])) {
            const FormulaBox above = set(formula.parts[2], small);
            if (sum)
                join(box, above, std::max(0.0F, (at - above.width) / 2), -base_ascent - above.descent);
            else
                join(box, above, at, -std::max(size * 0.38F, base_ascent - size * 0.36F));
        }
        box.width += size * 0.06F;
        return box;
    }

    FormulaBox fraction(const lesson::Formula& formula, float size) const {
        const FormulaBox over = set(formula.parts[0], size), under = set(formula.parts[1], size);
        const float pad = size * 0.18F, axis = -size * 0.28F, gap = size * 0.16F;
        FormulaBox box;
        const float width = std::max(over.width, under.width) + 2 * pad;
        join(box, over, (width - over.width) / 2, axis - gap - over.descent);
        join(box, under, (width - under.width) / 2, axis + gap + under.ascent);
        box.scene.add(figure::LineItem{{pad / 2, axis}, {width - pad / 2, axis}, color_, 1});
        box.width = width + pad / 2;
        return box;
    }

    FormulaBox root(const lesson::Formula& formula, float size) const {
        const FormulaBox inner = set(formula.parts[0], size);
        const float hook = size * 0.62F, over = size * 0.12F;
        FormulaBox box;
        join(box, inner, hook, 0);
        const float top = -inner.ascent - over, bottom = inner.descent;
        const float middle = (top + bottom) / 2;
        box.scene.add(
            figure::LineItem{{size * 0.06F, middle + size * 0.08F}, {hook * 0.34F, middle}, color_, 1});
        box.scene.add(figure::LineItem{{hook * 0.34F, middle}, {hook * 0.62F, bottom}, color_, 1.5F});
        box.scene.add(figure::LineItem{{hook * 0.62F, bottom}, {hook * 0.94F, top}, color_, 1});
        box.scene.add(figure::LineItem{{hook * 0.94F, top}, {hook + inner.width + over, top}, color_, 1});
        box.width = hook + inner.width + over * 1.5F;
        box.ascent = inner.ascent + over + 1;
        return box;
    }

    void bracket(FormulaBox& box, float x, float top, float bottom, float hook) const {
        box.scene.add(figure::LineItem{{x, top}, {x, bottom}, color_, 1});
        box.scene.add(figure::LineItem{{x, top}, {x + hook, top}, color_, 1});
        box.scene.add(figure::LineItem{{x, bottom}, {x + hook, bottom}, color_, 1});
    }

    FormulaBox matrix(const lesson::Formula& formula, float size) const {
        const auto columns = static_cast<std::size_t>(std::max(formula.columns, 1));
        std::vector<FormulaBox> cells;
        for (const lesson::Formula& part : formula.parts)
            cells.push_back(set(part, size));
        std::vector<float> widths(columns, 0);
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i % columns] = std::max(widths[i % columns], cells[i].width);
        const std::size_t rows = cells.size() / columns;
        const float gap = size * 0.7F, line = size * 1.35F, edge = size * 0.35F;
        const float height = line * static_cast<float>(rows), first = -height / 2 - size * 0.28F;
        FormulaBox box;
        for (std::size_t r = 0; r < rows; ++r) {
            float x = edge;
            for (std::size_t c = 0; c < columns; ++c) {
                const FormulaBox& cell = cells[r * columns + c];
                join(box, cell, x + widths[c] - cell.width,
                     first + line * (static_cast<float>(r) + 0.5F) + size * 0.28F);
                x += widths[c] + (c + 1 < columns ? gap : 0);
            }
            box.width = x + edge;
        }
        box.ascent = -first;
        box.descent = first + height;
        bracket(box, size * 0.1F, first, box.descent, size * 0.16F);
        bracket(box, box.width - size * 0.1F, first, box.descent, -size * 0.16F);
        return box;
    }

    FormulaBox fence(const lesson::Formula& formula, float size) const {
        const FormulaBox inner = set(formula.parts[0], size);
        const float edge = size * 0.3F;
        FormulaBox box;
        join(box, inner, edge, 0);
        box.width = inner.width + 2 * edge;
        const float top = -inner.ascent, bottom = inner.descent;
        if (formula.text.starts_with('(')) {
            const float bow = size * 0.22F;
            box.scene.add(figure::CurveItem{{edge * 0.8F, top},
                                            {edge * 0.8F - bow, top + bow},
                                            {edge * 0.8F - bow, bottom - bow},
                                            {edge * 0.8F, bottom},
                                            color_,
                                            1});
            const float right = box.width - edge * 0.8F;
            box.scene.add(figure::CurveItem{{right, top},
                                            {right + bow, top + bow},
                                            {right + bow, bottom - bow},
                                            {right, bottom},
                                            color_,
                                            1});
        } else if (formula.text.starts_with('|')) {
            box.scene.add(figure::LineItem{{edge / 2, top}, {edge / 2, bottom}, color_, 1});
            box.scene.add(
                figure::LineItem{{box.width - edge / 2, top}, {box.width - edge / 2, bottom}, color_, 1});
        } else {
            bracket(box, edge / 3, top, bottom, size * 0.16F);
            bracket(box, box.width - edge / 3, top, bottom, -size * 0.16F);
        }
        return box;
    }

    const DrawContext& context_;
    figure::Color color_;
};

} // namespace

FormulaBox set_formula(const lesson::Formula& formula, const DrawContext& context, float size,
                       figure::Color color) {
    return Setter(context, color).set(formula, size);
}

} // namespace headscope::app
