// forward.h: one step of a Laguna model, token rows in, logits out.
#pragma once

#include "laguna/activations.h"
#include "laguna/compute.h"
#include "laguna/expert_store.h"
#include "laguna/rotary.h"
#include "laguna/step.h"
#include "laguna/weights.h"

namespace lagoon {

struct LagunaModel {
  const ModelConfig& config;
  const ModelWeights& weights;
  const ExpertStore& experts;
  const Rotary (&rotary)[2];  // by AttentionKind
};

/// @param logits  [step.logit_rows][vocabulary] fp32
/// @pre the caches have reserved their rows; they are advanced here, at the end
void forward(const LagunaModel& model, const Step& step, Activations& activations, MatrixView<float> logits, const Compute& compute,
             const StepObserver& observer = {});

}  // namespace lagoon
