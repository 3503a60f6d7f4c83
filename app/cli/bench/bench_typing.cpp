#include "app/cli/bench/bench_typing.h"

#include <imgui.h>
#include <string_view>

namespace headscope::cli {

namespace {

constexpr int frames_for_focus = 5;
constexpr std::string_view text = "And the old man reads a paper near her house";

} // namespace

bool Typist::done() const {
    return seconds_.size() == text.size();
}

void Typist::before_frame() {
    if (++frame_ == 1)
        program_.act(app::Action(app::WindowAction(app::TypeSentence{})));
    if (frame_ <= frames_for_focus || waiting_ || done())
        return;
    waiting_ = true;
    before_ = program_.state().shown.document->recipe.sentence;
    typed_at_ = BenchClock::now();
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(text[seconds_.size()]));
}

void Typist::after_frame() {
    if (!waiting_ || program_.state().shown.document->recipe.sentence == before_)
        return;
    waiting_ = false;
    seconds_.push_back(since(typed_at_));
}

} // namespace headscope::cli
