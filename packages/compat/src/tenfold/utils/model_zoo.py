"""`utils.model_zoo`: weights by their address; an older name of what `hub` does."""

from tenfold.hub import load_state_dict_from_url

__all__ = ["load_url"]

load_url = load_state_dict_from_url
