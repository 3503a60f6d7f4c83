#include "app/draw/matrix/rotation.h"
#include "app/draw/matrix/terms.h"
#include "app/draw/panels/guide_speaker.h"

#include <array>

namespace headscope::app {

using namespace guide;

namespace {

GuideText say_x(const Speaker& s) {
    std::vector<double> row;
    for (std::int64_t d = 0; d < s.dims.D; ++d)
        row.push_back(s.at(TensorId::x, {s.b, s.i, d}));
    const std::int64_t d = place_of_largest(row);
    const auto& names = s.shown.document->feature_names();
    const std::string name = names.empty() ? "" : names[static_cast<std::size_t>(d)];
    GuideText out{.heading = "Every token is a row of numbers", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back("Attention starts from a matrix with one row per token: here " +
                             count(s.dims.Tq, "row") + " of " + count(s.dims.D, "number") + ".");
    out.paragraphs.push_back("In the row of " + s.query() + " the largest number is " +
                             number(row[static_cast<std::size_t>(d)], 2) +
                             (ties(row) > 1 ? ", first in" : ", in") + " column " + n(d) +
                             (name.empty() ? "." : ", which stands for “" + shortened(name, 24) + "”."));
    out.paragraphs.push_back(s.problem.cross() ? "Keys and values come from a second sequence of " +
                                                     count(s.dims.Tk, "token") + ", x_kv."
                                               : "So far no token knows anything about the others.");
    out.try_it = s.shown.document->recipe.base
                     ? "Point at a number: the inspector tells who reads it."
                     : "Type another sentence at the top and watch the rows change. "
                       "Then press the right arrow key.";
    return out;
}

GuideText say_qkv(const Speaker& s, Projection projection) {
    constexpr std::array<TensorId, 3> stages{TensorId::q, TensorId::k, TensorId::v};
    const TensorId id = stages[static_cast<std::size_t>(projection)];
    const bool queries = id == TensorId::q;
    const std::int64_t row = queries ? s.i : std::min(s.i, s.dims.Tk - 1);
    const std::int64_t column = queries             ? s.h * s.dims.dk
                                : id == TensorId::k ? s.dims.kv_head(s.h) * s.dims.dk
                                                    : s.dims.kv_head(s.h) * s.dims.dv;
    const std::int64_t terms = queries ? s.dims.D : s.dims.Dkv;
    constexpr std::array<TensorId, 3> biases{TensorId::b_Q, TensorId::b_K, TensorId::b_V};
    const bool bias = s.shown.tensor(biases[static_cast<std::size_t>(projection)]) != nullptr;
    const std::string name(tensor_info(id).name);
    GuideText out{.heading = "Query, key and value", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back(
        s.problem.cross()
            ? "Queries are made from the first sequence, keys and values from the second. The query "
              "says what a token looks for, the key what one offers, the value what it hands over."
            : "Each token’s row is multiplied by three matrices. The query says what it looks for, "
              "the key what it offers, the value what it hands over.");
    out.paragraphs.push_back("For " + (queries ? s.query() : s.key(row)) + ", column " + n(column) + " of " +
                             name + " is " + number(s.at(id, {s.b, row, column}), 2) + ": the sum of " +
                             count(terms, "product") + (bias ? " and a bias." : "."));
    if (s.dims.Hkv != s.dims.H)
        out.paragraphs.push_back("K and V have only " + count(s.dims.Hkv, "head") + " for the " +
                                 count(s.dims.H, "head") + " of Q.");
    out.try_it =
        "Point at a number of the result: its row and column light up, and the inspector adds up the "
        "products.";
    return out;
}

GuideText say_split(const Speaker& s) {
    const Dims& dims = s.dims;
    const std::int64_t head = s.h, column = head * dims.dk;
    GuideText out{.heading = "Splitting only says who owns which column", .paragraphs = {}, .try_it = {}};
    if (dims.H == 1)
        out.paragraphs.push_back("There is one head, so it keeps all " + count(dims.dk, "column") + " of Q.");
    else
        out.paragraphs.push_back("The " + count(dims.H * dims.dk, "column") +
                                 " of Q are dealt out in order: " + span("column", 0, dims.dk) +
                                 " to head 0, " + span("column", dims.dk, dims.dk) + " to head 1" +
                                 (dims.H > 2 ? ", and so on for " + count(dims.H, "head") + "." : "."));
    const ProblemParts parts = s.problem.parts();
    for (const TensorId step : steps_to(TensorId::q_heads, parts))
        if (step != TensorId::q && step != TensorId::q_heads)
            out.paragraphs.push_back("On the way: " + formula_of(step, parts) + ".");
    if (s.problem.rotary) {
        const Turn turn = turn_of(s.shown, {TensorId::q_heads, {s.b, head, s.i, 0}});
        out.paragraphs.push_back("Then every pair of numbers half a head apart is turned by its token’s "
                                 "position (RoPE): in q_heads[" +
                                 n(head) + "] of " + s.query() + " the pair 0, " + n(dims.dk / 2) +
                                 " is turned by " + number(turn.angle, 1) +
                                 "°. Two tokens at a fixed distance then always differ by the same angle. "
                                 "Values are not turned.");
        out.try_it = "Press Rotation. Which pairs turn fast, which hardly at all?";
        return out;
    }
    if (!heads_are_columns(parts)) {
        out.try_it = "Press One head. Which numbers grow on the way, and which shrink?";
        return out;
    }
    out.paragraphs.push_back("No number changes on the way: q_heads[" + n(head) + "] of " + s.query() +
                             " begins with " + number(s.at(TensorId::q_heads, {s.b, head, s.i, 0}), 2) +
                             ", which is column " + n(column) + " of q.");
    if (dims.Hkv != dims.H)
        out.paragraphs.push_back("K and V make only " + count(dims.Hkv, "head") + "; each serves " +
                                 count(dims.H / dims.Hkv, "query head") + ".");
    out.try_it = "Press Together, then Apart. Which columns move, and does any number change?";
    return out;
}

GuideText say_head_out(const Speaker& s) {
    const std::vector<double> weights = s.row(TensorId::weights);
    const auto j = place_of_largest(weights);
    const double weight = weights[static_cast<std::size_t>(j)];
    const double value = s.at(TensorId::v_heads, {s.b, s.dims.kv_head(s.h), j, 0});
    GuideText out{.heading = "Values, mixed by the weights", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back("The weights say how much of each value to take. A head mixes " +
                             count(s.dims.Tk, "row") + " of values into one row of " +
                             count(s.dims.dv, "number") + ".");
    if (s.nothing_read(s.h))
        out.paragraphs.push_back(s.query() + " may read nothing in " + say_head(s.h) +
                                 ", so its row is all 0.");
    else {
        const SumFormat format = step_format({weight, value}, weight * value,
                                             [](const std::vector<double>& v) { return v[0] * v[1]; });
        out.paragraphs.push_back("In " + say_head(s.h) + ", column 0 of " + s.query() + " is " +
                                 number(s.at(TensorId::head_out, {s.b, s.h, s.i, 0}), 2) + ". Of this, " +
                                 s.key(j) + " brings " + number(weight, format.decimals) + " × " +
                                 number(value, format.decimals) + (format.approximate ? " ≈ " : " = ") +
                                 number(weight * value, format.decimals) + ".");
        out.paragraphs.push_back("The nearer one weight is to 1, the nearer the result is to that value.");
    }
    out.try_it = "Point at a number: the inspector lists what each key brings.";
    return out;
}

GuideText say_concat(const Speaker& s) {
    const std::int64_t h = s.h, column = h * s.dims.dv;
    const float gain = s.problem.gain(h);
    GuideText out{.heading = "Side by side again", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back(s.dims.H == 1 ? "One head alone fills all " + count(s.dims.dv, "column") + "."
                                           : "The heads’ results are set side by side: " + n(s.dims.H) +
                                                 " × " + n(s.dims.dv) + " = " +
                                                 count(s.dims.H * s.dims.dv, "column") + " per token.");
    out.paragraphs.push_back("For " + s.query() + ", column " + n(column) + " holds " +
                             number(s.at(TensorId::concat, {s.b, s.i, column, 0}), 2) + ": " +
                             (gain == 1.0F ? "the first number of " + say_head(h) + ", unchanged."
                                           : "the first number of " + say_head(h) + " times its gain, " +
                                                 number(static_cast<double>(gain), 2) + "."));
    if (s.dims.H > 1)
        out.paragraphs.push_back(
            "Until here the heads have not met: every column still belongs to one of them.");
    out.try_it = "Press Apart, then Together: the blocks slide, the numbers stay.";
    return out;
}

GuideText say_contributions(const Speaker& s) {
    const std::int64_t d = s.output_column();
    const double own = s.at(TensorId::contributions, {s.b, s.h, s.i, d});
    GuideText out{.heading = "What each head adds", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back(
        "W_O has rows for every head: " + span("row", s.h * s.dims.dv, s.dims.dv) + " for head " + n(s.h) +
        ". The head’s result times its rows is its contribution, as wide as the output.");
    std::string numbers =
        "To column " + n(d) + " of " + s.query() + ", head " + n(s.h) + " adds " + number(own, 2);
    if (s.dims.H == 2)
        numbers += " and head " + n(1 - s.h) + " adds " +
                   number(s.at(TensorId::contributions, {s.b, 1 - s.h, s.i, d}), 2);
    else if (s.dims.H > 2) {
        double rest = 0;
        for (std::int64_t h = 0; h < s.dims.H; ++h)
            rest += h == s.h ? 0.0 : s.at(TensorId::contributions, {s.b, h, s.i, d});
        numbers += " and the other " + count(s.dims.H - 1, "head") + " " + number(rest, 2);
    }
    out.paragraphs.push_back(numbers + ".");
    if (s.problem.gain(s.h) == 0.0F)
        out.paragraphs.push_back("Its gain is 0: this head is switched off.");
    out.try_it = s.dims.H > 1 ? "Pick another head with the number keys. Which one adds most to this column?"
                              : "Point at a number to see its products.";
    return out;
}

GuideText say_output(const Speaker& s) {
    const std::int64_t d = s.output_column();
    const bool bias = s.problem.weights.b_O != nullptr;
    const bool identity = s.shown.document->recipe.identity_W_O;
    const bool square = s.dims.H * s.dims.dv == s.dims.D;
    GuideText out{.heading = identity ? "W_O switched to the identity" : "W_O lets the heads meet",
                  .paragraphs = {},
                  .try_it = {}};
    out.paragraphs.push_back(identity
                                 ? "Now every output column is one column of concat" +
                                       std::string(bias ? " plus its bias" : "") + ": the heads stay apart."
                                 : "Every output column is concat times a column of W_O" +
                                       std::string(bias ? ", plus a bias" : "") + ". It takes a part from " +
                                       (s.dims.H == 1   ? "the one head."
                                        : s.dims.H == 2 ? "both heads."
                                                        : "all " + n(s.dims.H) + " heads."));
    out.paragraphs.push_back("The largest number for " + s.query() + ", by size, is " +
                             number(s.at(TensorId::output, {s.b, s.i, d}), 2) + ", in column " + n(d) +
                             "; head " + n(s.h) + " has a share of " +
                             number(s.at(TensorId::contributions, {s.b, s.h, s.i, d}), 2) + " in it.");
    out.paragraphs.push_back("This row is what the next layer gets to read.");
    out.try_it = identity ? "Switch W_O back and see the heads mix again."
                 : square && !s.shown.document->recipe.base
                     ? "Switch W_O to the identity: which columns of the "
                       "output does each head fill now?"
                     : "Point at a number: the bar in the inspector shows "
                       "each head’s share.";
    return out;
}

} // namespace

GuideText guide_text(const Shown& shown, const ViewState& view) {
    if (is_around(view.group))
        return guide_text_around(shown, view);
    const Speaker speaker(shown, view);
    switch (view.group) {
    case StageGroup::x:
        return say_x(speaker);
    case StageGroup::qkv:
        return say_qkv(speaker, view.projection);
    case StageGroup::split:
        return say_split(speaker);
    case StageGroup::scores:
        return say_scores(speaker);
    case StageGroup::scaled:
        return say_scaled(speaker);
    case StageGroup::masked:
        return say_masked(speaker);
    case StageGroup::weights:
        return say_weights(speaker);
    case StageGroup::head_out:
        return say_head_out(speaker);
    case StageGroup::concat:
        return say_concat(speaker);
    case StageGroup::contributions:
        return say_contributions(speaker);
    case StageGroup::output:
        return say_output(speaker);
    default:
        break; // around attention
    }
    return say_x(speaker);
}

} // namespace headscope::app
