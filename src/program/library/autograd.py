# torch.autograd: forward() of functions that a file defines.


class _Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_dirty(self, *tensors):
        pass

    def mark_non_differentiable(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        pass


class Function:
    @classmethod
    def apply(cls, *inputs):
        return cls.forward(_Context(), *inputs)
