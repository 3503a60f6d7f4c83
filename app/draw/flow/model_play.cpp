#include "app/draw/flow/model_parts.h"

#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// Between two numbers, with a slow start and a slow end.
float glide(float from, float to, float t) {
    return from + (to - from) * ease_in_out(t);
}

} // namespace

ModelFlowMoment model_flow_moment(const ModelFlow& flow) {
    const FlowView& view = flow.context.view.flow;
    const FlowStory& story = view.story;
    if (!view.on_screen || story.empty() || view.time <= 0 || view.time >= story.duration())
        return {};
    const ModelFlowLayout& layout = flow.layout;
    const figure::Rect& open = layout.slabs[layout.open_slab];
    const float time = view.time;
    const auto done = [&](FlowStep step) { return story.progress(step, time); };
    ModelFlowMoment moment{.plays = true, .front = layout.stream_left, .ribbons = 0, .next_word = 0};
    const float first = layout.slabs.front().x;
    const float ribbons_end = 0.75F; // of the attention step: the values have arrived, and are added
    switch (story.step_at(time)) {
    case FlowStep::query:
        moment.front = glide(layout.stream_left, first, done(FlowStep::query));
        break;
    case FlowStep::compare:
        moment.front = glide(first, open.x, done(FlowStep::compare));
        break;
    case FlowStep::scale: {
        const float t = done(FlowStep::scale);
        moment.ribbons = ease_in_out(std::min(t / ribbons_end, 1.0F));
        moment.front = glide(open.x, layout.target_x, t);
        break;
    }
    case FlowStep::softmax:
        moment.front = glide(layout.target_x, open.right(), done(FlowStep::softmax));
        moment.ribbons = 1;
        break;
    case FlowStep::mix:
        moment.front = glide(open.right(), layout.final_norm.x, done(FlowStep::mix));
        moment.ribbons = 1;
        break;
    case FlowStep::write:
        moment.front = glide(layout.final_norm.x, layout.final_norm.right(), done(FlowStep::write));
        moment.ribbons = 1;
        break;
    case FlowStep::join:
        moment.front = layout.final_norm.right();
        moment.ribbons = 1;
        moment.next_word = ease_in_out(std::min(done(FlowStep::join) / 0.6F, 1.0F));
        break;
    }
    const FlowSubtitle sentence = model_flow_subtitle(flow.context.shown, flow.context.view, time);
    moment.subtitle = sentence.text + (sentence.strong.empty() ? "" : " " + sentence.strong);
    return moment;
}

} // namespace headscope::app
