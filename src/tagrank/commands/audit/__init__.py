"""How complete tags are, told by pictures that somebody looked at completely."""
