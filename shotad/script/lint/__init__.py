"""Describers' guidelines as checks of a whole track, with its film where there is one."""
